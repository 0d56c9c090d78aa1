import type { Clock } from '#libs/clock';
import { endedAfterEach, eventually, FakeClock, freePort, LoopbackServer, TestAuthority } from '#libs/testing';
import { exitCodes } from '../../apps/cli/src/exit-codes.js';
import { Examined } from './examined.js';

interface Ended {
  readonly code: number;
  readonly text: string;
}

const VERBS: readonly (readonly string[])[] = [
  ['status'],
  ['renew', '--merchant', 'shop'],
  ['session', 'watch', '--merchant', 'shop'],
];

describe('how status, renew and session watch get to a broker', () => {
  const authority = new TestAuthority();
  const started = endedAfterEach();
  let examined: Examined;

  beforeEach(async () => {
    examined = started.add(await Examined.create(), (it) => it.remove());
  });

  async function file(name: string, content: string): Promise<string> {
    await examined.write(name, content);
    return examined.path(name);
  }

  function cli(args: readonly string[], environment: Examined['environment'], clock?: Clock): Promise<Ended> {
    Object.assign(examined, { environment }, clock && { clock });
    return examined.cli(...args);
  }

  async function broker(start: Promise<LoopbackServer>): Promise<LoopbackServer> {
    return started.add(await start, (it) => it.close());
  }

  type Listener = Parameters<typeof LoopbackServer.http>[0];
  const answers: Listener = (_request, response) => void response.end('{"merchants":[]}');
  /** What is at the address. */
  const ends = {
    TLS: () => LoopbackServer.https(authority.issue({ names: ['localhost', '127.0.0.1'] }), answers),
    'TLS of another name': () => LoopbackServer.https(authority.issue({ names: ['broker.internal'] }), answers),
    HTTP: () => LoopbackServer.http(answers),
    'a refusal': () => LoopbackServer.http((_request, response) => void response.writeHead(401).end('{}')),
  };

  it.each<[keyof typeof ends, string, boolean, readonly string[], number]>([
    ['TLS', 'https', false, ['is not trusted', 'give the file of the authority'], exitCodes.refused],
    ['TLS of another name', 'https', true, ['is for another name', 'use a name that the cert'], exitCodes.refused],
    [
      ...(['TLS', 'http', true] as const),
      ['the port speaks TLS, but the address begins with http', 'correct --url, or BROKER_URL: https://localhost:'],
      exitCodes.invalidInput,
    ],
    [
      ...(['HTTP', 'https', true] as const),
      ['the port speaks no TLS, but the address begins with https', 'correct --url, or BROKER_URL'],
      exitCodes.invalidInput,
    ],
    ['a refusal', 'http', true, ['no token is given: set BROKER_TOKEN_FILE, or give --token'], exitCodes.refused],
  ])('say what is wrong, and what to do: %s at %s, with its authority: %s', async (...row) => {
    const [end, scheme, hasAuthority, said, code] = row;
    const { port } = await broker(ends[end]());
    const ca = hasAuthority ? { BROKER_CA_FILE: await file('ca.pem', authority.cert) } : {};
    for (const args of VERBS) {
      const ended = await cli(args, { BROKER_URL: `${scheme}://localhost:${port}`, ...ca });
      for (const one of said) expect(ended.text).toContain(one);
      expect([args, ended.code]).toEqual([args, code]);
    }
  });

  describe.each(VERBS.map((args) => [args.join(' '), args] as const))('%s', (_name, args) => {
    it.each([
      ['of a certificate', new TestAuthority().cert, 'it has characters that no token has'],
      ['that is empty', '\n', 'it is empty'],
    ])('sends nothing with a token file %s', async (_what, content, why) => {
      const server = await broker(LoopbackServer.http((_request, response) => response.end('{}')));
      const path = await file('oncall.token', content);
      const { code, text } = await cli(args, {
        BROKER_URL: `http://127.0.0.1:${server.port}`,
        BROKER_TOKEN_FILE: path,
      });
      expect(text).toContain(`the token file holds no token: ${why}`);
      expect(code).toBe(exitCodes.invalidInput);
      expect(text).not.toMatch(/canary|anary token|-----BEGIN/);
      expect(server.connections).toBe(0);
    });
  });

  describe('where a replica takes connections and no handshake', () => {
    const CONNECT_LIMIT_MS = 4_000;

    async function untilGivenUp(args: readonly string[], urls: readonly string[]): Promise<Ended> {
      let greeted = 0;
      const hung = await broker(LoopbackServer.tcp((socket) => void socket.once('data', () => (greeted += 1))));
      const clock = new FakeClock();
      const ended = cli(args, { BROKER_URL: [`https://127.0.0.1:${hung.port}`, ...urls].join(',') }, clock);
      await eventually(() => greeted === 1);
      await clock.advance(CONNECT_LIMIT_MS);
      return ended;
    }

    it('waits for it no longer than for a connection', async () => {
      const { code, text } = await untilGivenUp(['status'], []);
      expect(text).toContain('What to do: see whether a replica runs there');
      expect(code).toBe(exitCodes.tryLater);
    });

    it('has the next one renew, as nothing was asked', async () => {
      const listed = { merchants: [], result: 'renewed', generation: 7 };
      const healthy = await broker(LoopbackServer.http((_request, response) => response.end(JSON.stringify(listed))));
      const { code, text } = await untilGivenUp(VERBS[1] ?? [], [`http://127.0.0.1:${healthy.port}`]);
      expect(text).toContain('session     of shop was created\ngeneration  7\n');
      expect(code).toBe(exitCodes.ok);
    });
  });

  it('tell of every replica that renew could not reach, and what to do', async () => {
    const ports = [await freePort(), await freePort()];
    const environment = { BROKER_URL: ports.map((port) => `http://127.0.0.1:${port}`).join(',') };
    const why = (port: number): string => `nothing listens there (ECONNREFUSED to 127.0.0.1:${port})`;
    const remedy = 'see whether a replica runs there, and whether --url or BROKER_URL is right (runbook: replica-down)';
    const { code, text } = await cli(VERBS[1] ?? [], environment);
    expect(text.split('\n')).toEqual([
      ...ports.map((port) => `not reached http://127.0.0.1:${port}: ${why(port)}`),
      `What to do: ${remedy}`,
    ]);
    expect(code).toBe(exitCodes.tryLater);
    const notAsked = ports.map((port) => ({
      place: `http://127.0.0.1:${port}`,
      error: { code: 'broker_unreachable', message: why(port), remedy, runbook: 'replica-down' },
    }));
    expect(JSON.parse((await cli([...(VERBS[1] ?? []), '--json'], environment)).text)).toEqual({
      ...{ ok: false, merchant: 'shop', error: notAsked[0]?.error, mayBeDone: false, notAsked, warnings: [] },
    });
    const status = JSON.parse((await cli(['status', '--json'], environment)).text) as unknown;
    expect(status).toMatchObject({ ok: false, replicas: notAsked });
    expect((await cli(['status'], environment)).text.split('\n').slice(-3)).toEqual([
      ...ports.map((port) => `http://127.0.0.1:${port}: ${why(port)}`),
      `What to do: ${remedy}`,
    ]);
  });

  it.each([
    ['localhost:8080', 'the URL of a broker is http or https'],
    ['http://caller:canary@localhost:8080', 'the URL of a broker is http or https, without a credential'],
  ])('say of an address that cannot be used what is wrong: %s', async (url, said) => {
    const { code, text } = await cli(['status'], { BROKER_URL: url });
    expect(text).toContain(said);
    expect(text).not.toContain('canary');
    expect(code).toBe(exitCodes.invalidInput);
  });

  it.each(VERBS.slice(1).map((args) => [args] as const))('refuse a merchant whose name is empty: %j', async (args) => {
    const { code, text } = await cli([...args.slice(0, -1), ''], { BROKER_URL: 'http://127.0.0.1:9' });
    expect(text).toBe('error: --merchant is empty: is its variable set?');
    expect(code).toBe(exitCodes.usage);
  });
});
