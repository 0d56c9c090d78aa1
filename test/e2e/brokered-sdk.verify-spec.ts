import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { endedAfterAll, endedAfterEach, LoopbackServer } from '#libs/testing';
import { json, session } from './guide-answers.js';
import { GuidePrograms } from './guide-programs.js';

const FILES = ['brokered-sdk.ts', 'brokered-sdk.cjs'] as const;
type File = (typeof FILES)[number];

/** What is tried with the pasted file, in a separate program. */
interface Trial {
  readonly before?: string;
  readonly newSdk?: string;
  readonly operation: string;
  readonly after?: string;
}

/** Shortens a limit of the SDK; anything else that waits as long ends right after it. */
const SHORT_LIMIT = `
  const shortened = (ms) => (ms === 45_000 ? 20 : ms);
  globalThis.setTimeout = ((real) => (end, ms, ...more) => real(end, shortened(ms), ...more))(setTimeout);
  AbortSignal.timeout = (({ timeout }) => (ms) => timeout.call(AbortSignal, shortened(ms)))(AbortSignal);
`;
const OUTLIVE_LIMIT = `
  await new Promise((over) => setTimeout(over, 45_000));
  console.log('alive');
`;

const programOf = (file: File, { before = '', newSdk, operation, after = '' }: Trial): string => `
  ${before}
  import { SessionBroker } from '@session-broker/client';
  const { withSdk } = await import('./${file}');
  const { BROKER_URL, BROKER_TOKEN } = process.env;
  const broker = new SessionBroker({ url: BROKER_URL, merchant: 'shop', auth: BROKER_TOKEN });
  const [authorize, decrypt] = [() => undefined, () => undefined];
  const newSdk = ${newSdk ?? '() => ({ auth: { authorize }, encryption: { decrypt } })'};
  await withSdk(broker, newSdk, ${operation}).catch((error) => console.log(error.name, error.message));
  ${after}
  await broker.close();
`;

describe('the file that is pasted beside a merchant SDK', () => {
  let programs: GuidePrograms;
  let gateway: LoopbackServer;
  let env: Readonly<Record<string, string>>;

  const started = endedAfterAll();
  beforeAll(async () => {
    programs = started.add(await GuidePrograms.copied(), (it) => it.remove());
  });

  const ofEach = endedAfterEach();
  beforeEach(async () => {
    const answered = (request: IncomingMessage, response: ServerResponse): void => {
      request.resume();
      const answer = request.url?.endsWith('/session') === true ? session(1) : json(404, {});
      void once(request, 'end').then(() => answer(response));
    };
    const silent = (request: IncomingMessage): unknown => request.resume();
    const broker = ofEach.add(await LoopbackServer.http(answered), (it) => it.close());
    gateway = ofEach.add(await LoopbackServer.http(silent), (it) => it.close());
    env = {
      BROKER_URL: `http://127.0.0.1:${broker.port}`,
      BROKER_TOKEN: 'token',
      GATEWAY_URL: `http://127.0.0.1:${gateway.port}`,
    };
  });

  /** What a trial prints with each file; rejects if the process exits with anything but 0. */
  const outputs = (trial: Trial): Promise<string[]> =>
    Promise.all(FILES.map((file) => programs.outputOf(programOf(file, trial), env, file.replaceAll('.', '-'))));

  it.each([
    ['cannot be made', "() => { throw new TypeError('no settings'); }", 'TypeError: no settings'],
    ['authorizes elsewhere', '() => ({ auth: {}, encryption: { decrypt } })', 'the SDK has no auth.authorize'],
    [
      'fails before it asks for a session',
      '() => ({ auth: { authorize }, encryption: { decrypt } })',
      'is not a function',
    ],
  ])('says that nothing was sent by an SDK that %s', async (_what, newSdk, why) => {
    for (const said of await outputs({ newSdk, operation: '(sdk) => sdk.createRefund({})' })) {
      expect(said).toMatch(/^SdkNotCalled nothing was sent to the bank: /);
      expect(said).toContain(why);
    }
    expect(gateway.connections).toBe(0);
  });

  it.each([
    ['after a session', 'async (sdk) => { await sdk.auth.authorize({}); sdk.createRefnd({}); }'],
    ['at once, with the session', "(sdk) => { void sdk.auth.authorize({}); throw new Error('at once'); }"],
  ])('says that nobody knows of another fault of an SDK: %s', async (_what, operation) => {
    for (const said of await outputs({ operation })) expect(said).toMatch(/^AnswerLost /);
  });

  it('says that nobody knows where the gateway never answers, and gives no session any more', async () => {
    const operation = `async (sdk) => {
      globalThis.given = sdk;
      await sdk.auth.authorize({});
      return fetch(process.env.GATEWAY_URL);
    }`;
    const after = 'await given.auth.authorize({}).catch((error) => console.log(error.name)); process.exit();';
    for (const said of await outputs({ before: SHORT_LIMIT, operation, after })) {
      expect(said).toMatch(/^AnswerLost No answer of the gateway .*TimeoutError.*Nobody knows.*\nTimeoutError\n$/);
    }
  });

  it('ends no process when an SDK fails after its time is up', async () => {
    const operation = `async (sdk) => {
      await sdk.auth.authorize({});
      return new Promise((_answer, fail) => { globalThis.failLate = fail; });
    }`;
    const after = `failLate(new Error('late')); ${OUTLIVE_LIMIT}`;
    for (const said of await outputs({ before: SHORT_LIMIT, operation, after })) {
      expect(said).toMatch(/^AnswerLost .*\nalive\n$/);
    }
  });
});
