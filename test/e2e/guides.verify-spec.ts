import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  aServerPublicKey,
  aSessionDocument,
  describeWith,
  endedAfterAll,
  endedAfterEach,
  eventually,
  freePort,
  LoopbackServer,
} from '#libs/testing';
import { type Guide, GuidePrograms, GuideStage, type Language } from './guide-programs.js';

/** What a broker or a gateway answers to a guide's program. */
type Answer = (response: ServerResponse, sent: string) => unknown;

const json =
  (status: number, document: object): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document));
const dead = json(401, { msgCode: 'b_session_doesnt_exist' });
const page: Answer = (response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<html>a page</html>');
const session = (generation: number): Answer => json(200, aSessionDocument({ generation }));

/** Shortens the limit of the file that is pasted beside a merchant SDK, for an operation that begins with this wish. */
const SHORT_LIMIT = `
  globalThis.setTimeout = ((real) => (end, ms, ...more) => {
    const isShort = ms === 45_000 && globalThis.isImpatient === true;
    if (isShort) globalThis.isImpatient = false;
    return real(end, isShort ? 20 : ms, ...more);
  })(setTimeout);
`;
const IMPATIENT = 'globalThis.isImpatient = true;';
const SDK = '() => ({ auth: { authorize }, encryption: { decrypt } })';
const REFUND = '(sdk) => sdk.createRefund({})';

/** How an SDK is made, what is asked of it, and what is said of that; the later ones need what the earlier ones leave. */
const TRIALS: readonly (readonly [newSdk: string, operation: string, says: RegExp])[] = [
  [
    "() => { throw new TypeError('no settings'); }",
    REFUND,
    /^SdkNotCalled nothing was sent .*: TypeError: no settings$/,
  ],
  ['() => ({ auth: {}, encryption: { decrypt } })', REFUND, /^SdkNotCalled nothing .*: the SDK has no auth\.authorize/],
  [SDK, REFUND, /^SdkNotCalled nothing was sent to the bank: .* is not a function$/],
  [SDK, 'async (sdk) => { await sdk.auth.authorize({}); sdk.createRefnd({}); }', /^AnswerLost /],
  [SDK, "(sdk) => { void sdk.auth.authorize({}); throw new Error('at once'); }", /^AnswerLost /],
  [
    SDK,
    `async (sdk) => { ${IMPATIENT} globalThis.late = sdk; await sdk.auth.authorize({}); return fetch(\`\${GATEWAY_URL}/silent\`); }`,
    /^AnswerLost No answer of the gateway .*TimeoutError.*Nobody knows/,
  ],
  [SDK, '() => late.auth.authorize({})', /^SdkNotCalled .*: TimeoutError: /],
  [
    SDK,
    `async (sdk) => { ${IMPATIENT} await sdk.auth.authorize({}); return new Promise((_, fail) => { globalThis.failLate = fail; }); }`,
    /^AnswerLost /,
  ],
  [SDK, "async () => { failLate(new Error('late')); await new Promise(setImmediate); return 'alive'; }", /^alive$/],
  [
    SDK,
    `async ({ auth, encryption }) => {
      const { deviceId, name } = await auth.authorize({ name: 'merchant' });
      if (broker.current().generation === 1) {
        const answer = Object.assign(new Error('{"msgCode":"b_used_token"}'), { originalError: { status: 401 } });
        throw Object.assign(new Error('dead'), { originalError: answer });
      }
      return [deviceId, name, JSON.stringify(await encryption.decrypt('a.b.c.d.e'))].join(' ');
    }`,
    /^device-id-2 merchant \{"status":"accepted"\}$/,
  ],
];

const trialsWith = (file: string): string => `
  ${SHORT_LIMIT}
  import { SessionBroker } from '@session-broker/client';
  const { withSdk } = await import('./${file}');
  const { BROKER_URL, BROKER_TOKEN, GATEWAY_URL } = process.env;
  const broker = new SessionBroker({ url: BROKER_URL, merchant: 'shop', auth: BROKER_TOKEN });
  const [authorize, decrypt] = [() => undefined, () => undefined];
  for (const [newSdk, operation] of [${TRIALS.map(([newSdk, operation]) => `[${newSdk}, ${operation}]`).join(', ')}]) {
    const said = withSdk(broker, newSdk, operation).catch((error) => [error.name, error.message].join(' '));
    console.log((await said).replaceAll('\\n', ' '));
  }
  await broker.close();
  process.exit();
`;

const ORDER = { hppOrderId: 'order-of-the-bank', orderStatus: 'CREATED', redirectUrl: 'https://bank.example/pay' };

type Environment = Readonly<Record<string, string>>;

const theirs = endedAfterAll();
let programs: GuidePrograms;

beforeAll(async () => {
  programs = theirs.add(await GuidePrograms.copied(), (it) => it.remove());
});

describeWith(['curl', 'python3'], 'every program of the guides, at the sandbox', () => {
  let stage: GuideStage;

  const started = endedAfterEach();
  /** Each has its own: sessions are replaced for a rejection only once in ten seconds. */
  beforeEach(async () => {
    stage = started.add(await GuideStage.start(programs), ({ broker }) => broker.close());
  });

  it('compile in TypeScript under the strictest settings', async () => {
    expect(await programs.compilerFaults()).toBe('');
  });

  it('receive notifications, sealed or not: python', async () => {
    const receiver = started.add(await programs.start('notifications', 'python', stage.env), (it) => it.end());
    const url = `${receiver.url}/notifications`;
    const { ecomOperationId } = await stage.paid({ NOTIFICATION_URL: url });
    await eventually(() => receiver.lines.length > 1);
    expect(receiver.lines[1]).toBe(`hosted_page ${ecomOperationId} is SUCCESS`);
    expect((await fetch(url, { method: 'POST', body: 'no notification' })).status).toBe(400);
  });

  it.each<Language>(['ts', 'python'])('acknowledge no notification while no broker listens: %s', async (language) => {
    const wanted = { ...stage.env, BROKER_URL: `http://127.0.0.1:${await freePort()}` };
    const receiver = started.add(await programs.start('notifications', language, wanted), (it) => it.end());
    expect((await fetch(receiver.url, { method: 'POST', body: '{}' })).status).toBe(503);
    await eventually(() => receiver.lines.length > 1);
    expect(receiver.lines[1]).toMatch(/^not opened: .*refused/i);
  });

  it('open a notification that was kept: sh', async () => {
    const operation = { type: 'PURCHASE', coinAmount: 1, merchantId: 'm', ecomOperationId: 'kept-1', status: 'FAIL' };
    const order = { ecomOrderId: 'o', coinAmount: 1, merchantId: 'm', hppOrderId: 'h', merchantRequestId: 'r' };
    const file = join(stage.broker.folder, 'notification');
    await writeFile(file, JSON.stringify({ ...order, orderStatus: 'FAIL', operation }));
    const printed = await programs.output('notifications', 'sh', { ...stage.env, NOTIFICATION_FILE: file });
    expect(printed).toBe('hosted_page kept-1 is FAIL\n');
    const refused = programs.output('notifications', 'sh', {
      ...stage.env,
      BROKER_TOKEN: 'another',
      NOTIFICATION_FILE: file,
    });
    await expect(refused).rejects.toThrow(/^the broker refuses \/notifications\/open: .*"unauthenticated"/m);
  });

  it.each<Language>(['python', 'sh'])('print no token that is none: notifications, %s', async (language) => {
    for (const BROKER_TOKEN of ['canary\nof-a-token', '']) {
      const printing = programs.output('notifications', language, {
        ...stage.env,
        BROKER_TOKEN,
        NOTIFICATION_FILE: '/dev/null',
      });
      await expect(printing).rejects.toThrow(/^set BROKER_TOKEN: /m);
      await expect(printing).rejects.not.toThrow('canary');
    }
  });

  it('give back what was paid when the session is dead, sealed anew', async () => {
    const { operationId: OPERATION_ID } = await stage.paid();
    await stage.endSession();
    const printed = await programs.output('refund', 'ts', { ...stage.env, OPERATION_ID });
    expect(printed).toMatch(/^refund \S+ is PENDING\n$/);
    expect(await stage.broker.createCalls()).toBe(3);
  });
});

describeWith(['python3'], 'the programs of the guides, when something fails', () => {
  let broker: LoopbackServer;
  let gateway: LoopbackServer;
  let env: Environment;
  /** By the end of the path: what the broker or the gateway answers. */
  let answers: Record<string, Answer>;

  const ofEach = endedAfterEach();
  beforeEach(async () => {
    answers = {
      '/client-key': json(200, { jwk: aServerPublicKey() }),
      '/session': session(1),
      '/session/rejections': session(2),
      '/create-order': json(200, ORDER),
    };
    broker = ofEach.add(await LoopbackServer.http(answer), (it) => it.close());
    gateway = ofEach.add(await LoopbackServer.http(answer), (it) => it.close());
    env = {
      BROKER_URL: `http://127.0.0.1:${broker.port}`,
      BROKER_TOKEN: 'token',
      GATEWAY_URL: `http://127.0.0.1:${gateway.port}`,
      MERCHANT_ID: 'terminal-1',
      OPERATION_ID: randomUUID(),
    };
  });

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const found = Object.keys(answers).find((path) => request.url?.endsWith(path));
    void text(request).then((sent) => (found === undefined ? page : answers[found]!)(response, sent));
  }

  /** What a program says about its failure. */
  async function failure(guide: Guide, more: Environment = {}): Promise<string> {
    const failed = await programs.output(guide, 'ts', { ...env, ...more }).catch((error: unknown) => error);
    expect(failed).toHaveProperty('stderr');
    return (failed as { stderr: string }).stderr;
  }

  it.each<[string, Record<string, Answer>, RegExp]>([
    [
      'it names nowhere to send the customer to',
      { '/create-order': json(200, { ...ORDER, redirectUrl: null }) },
      /the bank HAS the order order-of-the-bank, but names no redirectUrl .*ask the bank/,
    ],
    [
      'it does not name the order',
      { '/create-order': json(200, { ...ORDER, hppOrderId: '' }) },
      /No hppOrderId: nobody knows whether the bank has the order/,
    ],
    [
      'only the question what became of the order fails',
      { '/operations': json(500, { msgCode: 'b_unknown_error' }) },
      /the bank HAS the order order-of-the-bank, and only the question .*do not send the order again/,
    ],
  ])('say of an order what the bank has, where %s', async (_what, answered, says) => {
    Object.assign(answers, answered);
    expect(await failure('hosted-page')).toMatch(says);
  });

  it('say that a merchant SDK has sent nothing where the broker refuses the client key', async () => {
    answers['/client-key'] = json(403, { code: 'forbidden', detail: 'ask for the merchant' });
    const said = await failure('merchant-sdk');
    expect(said).toMatch(/no client key: 403 .*ask for the merchant.*nothing was sent to the bank/);
    expect(said).toContain('are BROKER_URL and BROKER_TOKEN right? Is the merchant called shop there');
    expect(gateway.connections).toBe(0);
  });

  it.each<[string, Answer, RegExp]>([
    [
      'refused as not valid',
      json(400, { msgCode: 'VALIDATION_ERROR' }),
      /\nError: the gateway says to the refund, under 400, .*\[500\].*VALIDATION_ERROR.*: it was refused, while one that was sent before with the same id may be there\n/,
    ],
    [
      'one that the bank has already',
      json(200, { msgCode: 'b_duplicate_field_value' }),
      /\nError: .*b_duplicate.*: the bank has a request with this id already; keep \S+: the notification/,
    ],
    [
      'one without an answer',
      (response) => response.destroy(),
      /\nAnswerLost: .*what became of it; it is [\w-]{36}; does GATEWAY_URL begin with https:\/\/\?\n/,
    ],
    [
      'one whose sessions are both rejected',
      dead,
      /\nSessionRejected: The gateway rejected the session twice.*\(b_session_doesnt_exist\)[^]*\[cause\]: SdkError: /,
    ],
  ])('say of a refund of a merchant SDK that it is %s', async (_what, answered, says) => {
    answers['/refund'] = answered;
    expect(await failure('merchant-sdk')).toMatch(says);
  });

  it('say that the bank has a refund of a merchant SDK, and quote nothing, when what was opened is no JSON', async () => {
    answers['/refund'] = json(200, { jwe: 'a.b.c.d.e' });
    answers['/payloads/decrypt'] = json(200, { plaintext: 'canary' });
    const said = await failure('merchant-sdk');
    expect(said).toMatch(/\nAnswerUnopened: The gateway has answered, so that the bank has the request, but /);
    expect(said).not.toMatch(/nobody knows|canary/i);
  });

  it.each<[Guide, string, string]>([
    ['merchant-sdk', 'MERCHANT_ID', ' '],
    ['notifications', 'BROKER_TOKEN', ''],
    ['merchant-sdk', 'BROKER_URL', 'http://127.0.0.1:8080/v1/'],
  ])('name what is not set, or no address: %s, %s, "%s"', async (guide, name, value) => {
    expect(await failure(guide, { [name]: value })).toMatch(new RegExp(`set ${name}: `));
    expect(broker.connections + gateway.connections).toBe(0);
  });

  it.each(['brokered-sdk.ts', 'brokered-sdk.cjs'])('say by %s what became of what an SDK was asked', async (file) => {
    const rejected: unknown[] = [];
    Object.assign(answers, {
      '/session/rejections': (response: ServerResponse, sent: string) =>
        session(2)(response, String(rejected.push(JSON.parse(sent)))),
      '/payloads/decrypt': json(200, { plaintext: '{"status":"accepted"}' }),
      '/silent': () => undefined,
    });
    const printed = await programs.project.run(trialsWith(file), { name: `${file.replace('.', '-')}.ts`, env });
    expect(printed.trimEnd().split('\n')).toEqual(TRIALS.map(([, , says]) => expect.stringMatching(says) as string));
    expect(rejected).toEqual([{ generation: 1, reason: 'b_used_token' }]);
    expect(gateway.connections).toBe(1);
  });

  it('follow no redirect of a broker', async () => {
    const elsewhere = ofEach.add(await LoopbackServer.http(answer), (it) => it.close());
    const location = `http://127.0.0.1:${elsewhere.port}/`;
    const away: Answer = (response) => response.writeHead(302, { location }).end();
    Object.assign(answers, { '/client-key': away, '/session': away, '/notifications/open': away });
    for (const guide of ['hosted-page', 'refund', 'merchant-sdk'] as const) await failure(guide);
    for (const language of ['ts', 'python'] as const) {
      const receiver = ofEach.add(await programs.start('notifications', language, env), (it) => it.end());
      expect((await fetch(receiver.url, { method: 'POST', body: '{}' })).status).toBe(503);
    }
    expect(elsewhere.connections).toBe(0);
  });
});
