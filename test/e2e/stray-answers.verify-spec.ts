import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeWith, endedAfterAll, endedAfterEach } from '#libs/testing';
import { type Guide, GuidePrograms, type Language } from './guide-programs.js';
import { RunningBroker, TOKENS } from './running-broker.js';

type Environment = Readonly<Record<string, string>>;

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Listens in place of a gateway or a broker, and notes who called. */
async function somebody(answer: Answer): Promise<{ url: string; asked: string[]; close: () => void }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    request.resume().on('end', () => response.writeHead(answer.status, answer.headers).end(answer.body));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, close };
}

type Program = readonly [guide: Guide, language: Language];

/** All programs that send a payment. */
const PROGRAMS: readonly Program[] = [
  ...(['ts', 'python', 'sh'] as const).flatMap((language): Program[] => [
    ['hosted-page', language],
    ['refund', language],
  ]),
];

describeWith(['curl', 'python3'], 'the programs of the manual and the guides', () => {
  let programs: GuidePrograms;
  let broker: RunningBroker;
  let env: Environment;

  const started = endedAfterAll();
  beforeAll(async () => {
    programs = started.add(await GuidePrograms.copied(), (it) => it.remove());
    broker = started.add(await RunningBroker.start(), (it) => it.close());
    await broker.get('/v1/merchants/shop/session', { prefer: 'wait=5' });
    env = {
      BROKER_URL: broker.url,
      BROKER_TOKEN: TOKENS.payments,
      GATEWAY_URL: broker.sandboxUrl,
      MERCHANT_ID: 'terminal-1',
      OPERATION_ID: randomUUID(),
    };
  });
  const ofEach = endedAfterEach();
  const standIn = async (answer: Answer): ReturnType<typeof somebody> =>
    ofEach.add(await somebody(answer), (it) => it.close());

  const ended = ([guide, language]: Program, variables: Environment): Promise<Error> =>
    programs.output(guide, language, { ...env, ...variables }).then(
      (printed) => new Error(`it went well: ${printed}`),
      (error: unknown) => error as Error,
    );

  it.each(PROGRAMS)('follow no redirect of a gateway, and say that nobody knows: %s, %s', async (...program) => {
    const elsewhere = await standIn({ status: 200, body: '{"jwe":"of.a.stran.g.er","hppOrderId":"of-a-stranger"}' });
    for (const status of [302, 307]) {
      const gateway = await standIn({ status, headers: { location: `${elsewhere.url}/` } });
      const { message } = await ended(program, { GATEWAY_URL: gateway.url });
      expect(message).toMatch(/nobody knows/i);
      expect(message).toMatch(/redirect|302|307/);
      expect(gateway.asked).toHaveLength(1);
    }
    expect(elsewhere.asked).toEqual([]);
  });

  it.each(PROGRAMS)('say that nobody knows, and the status, when a firewall answers: %s, %s', async (...program) => {
    const headers = { 'content-type': 'text/html; charset=utf-8' };
    const gateway = await standIn({ status: 403, headers, body: '<html>canary' });
    const { message } = await ended(program, { GATEWAY_URL: gateway.url });
    expect(message).toMatch(/nobody knows/i);
    expect(message).toMatch(
      program[1] === 'ts' ? /status 403, text\/html\. Nobody/ : /403 is no answer of the gateway/,
    );
    expect(message).not.toContain('canary');
    expect(gateway.asked).toHaveLength(1);
  });

  it.each(PROGRAMS)(
    'say that nobody knows, and which id to keep, of an error that is no refusal: %s, %s',
    async (...program) => {
      for (const [status, msgCode] of [
        [500, 'b_system_error'],
        [400, 'b_unknown_error'],
      ] as const) {
        const headers = { 'content-type': 'application/json' };
        const gateway = await standIn({ status, headers, body: JSON.stringify({ msgCode }) });
        const { message } = await ended(program, { GATEWAY_URL: gateway.url, MERCHANT_REQUEST_ID: 'kept-1' });
        expect(message).toMatch(/nobody knows/i);
        if (program[1] !== 'ts') expect(message).toMatch(`${status} ${msgCode} is no refusal`);
        if (program[1] !== 'ts') expect(message).toMatch(/keep kept-1\b.* under a new merchantRequestId/);
        if (program[1] === 'ts')
          expect(message).toContain(`used: status ${status}, application/json, ${msgCode}. Nobody`);
        if (program[1] === 'ts') expect(message).toMatch(/^sending the \w+ kept-1$/m);
        if (program[0] === 'refund') expect(message).not.toContain('hppOrderId');
        expect(message).not.toContain('the gateway says');
        expect(gateway.asked).toHaveLength(1);
      }
    },
  );

  it.each<[string, string]>([
    ['nothing', ''],
    ['null', 'null'],
    ['an empty object', '{}'],
    ['a list', '["jwe"]'],
  ])('say that nobody knows when the gateway answers with %s under 200', async (_what, body) => {
    const gateway = await standIn({ status: 200, headers: { 'content-type': 'application/json' }, body });
    for (const program of PROGRAMS) {
      expect((await ended(program, { GATEWAY_URL: gateway.url })).message).toMatch(/nobody knows/i);
    }
  });

  it.each<Program>([...PROGRAMS, ['merchant-sdk', 'ts']])(
    'follow no redirect of a broker: %s, %s',
    async (...program) => {
      const elsewhere = await standIn({ status: 200, body: '{"generation":1}' });
      const redirecting = await standIn({ status: 302, headers: { location: `${elsewhere.url}/` } });
      const { message } = await ended(program, { BROKER_URL: redirecting.url });
      expect(message).not.toContain('it went well');
      expect(redirecting.asked.length).toBeGreaterThan(0);
      expect(elsewhere.asked).toEqual([]);
    },
  );

  it('follow no redirect of a gateway: the SDK that stands for another', async () => {
    const elsewhere = await standIn({ status: 200, body: '{}' });
    const gateway = await standIn({ status: 307, headers: { location: `${elsewhere.url}/` } });
    expect((await ended(['merchant-sdk', 'ts'], { GATEWAY_URL: gateway.url })).message).toContain('fetch failed');
    expect(gateway.asked).toHaveLength(1);
    expect(elsewhere.asked).toEqual([]);
  });

  it.each<Language>(['ts', 'python'])(
    'follow no redirect of a broker with a notification, and do not acknowledge it: %s',
    async (language) => {
      const elsewhere = await standIn({ status: 200, body: '{}' });
      const redirecting = await standIn({ status: 302, headers: { location: `${elsewhere.url}/` } });
      const receiver = await programs.start('notifications', language, { ...env, BROKER_URL: redirecting.url });
      try {
        const url = `http://127.0.0.1:${receiver.lines[0]?.replace('port ', '')}/`;
        expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(503);
      } finally {
        await receiver.end();
      }
      expect(elsewhere.asked).toEqual([]);
    },
  );
});
