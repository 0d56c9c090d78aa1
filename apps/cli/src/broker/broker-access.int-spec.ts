import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, SystemClock } from '#libs/clock';
import { endedAfterEach, eventually, FakeClock, freePort, LoopbackServer, TestAuthority } from '#libs/testing';
import { exitCodes } from '../exit-codes.js';
import { runCli } from '../program.js';

interface Ended {
  readonly code: number;
  readonly text: string;
}

const PROBLEM = 'urn:session-broker:problem:';
const VERBS: readonly (readonly string[])[] = [
  ['status'],
  ['renew', '--merchant', 'shop'],
  ['session', 'watch', '--merchant', 'shop'],
];

describe('how status, renew and session watch get to a broker', () => {
  const authority = new TestAuthority();
  const started = endedAfterEach();
  let folder: string;

  beforeEach(async () => {
    folder = started.add(await mkdtemp(join(tmpdir(), 'broker-access-')), (it) => rm(it, { recursive: true }));
  });

  async function file(name: string, content: string): Promise<string> {
    await writeFile(join(folder, name), content);
    return join(folder, name);
  }

  async function cli(
    args: readonly string[],
    environment: Readonly<Record<string, string>>,
    clock: Clock = new SystemClock(),
  ): Promise<Ended> {
    const lines: string[] = [];
    const print = (text: string): void => void lines.push(text);
    const { signal } = new AbortController();
    const code = await runCli(args, {
      terminal: { out: print, err: print },
      environment,
      signal,
      clock,
    });
    return { code, text: lines.join('\n') };
  }

  async function broker(start: Promise<LoopbackServer>): Promise<LoopbackServer> {
    return started.add(await start, (it) => it.close());
  }

  const trusted = (): Promise<LoopbackServer> =>
    broker(
      LoopbackServer.https(authority.issue({ names: ['localhost', '127.0.0.1'] }), (_request, response) =>
        response.end('{"merchants":[]}'),
      ),
    );

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

    it.each([
      ['damaged', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', 'holds a damaged certificate'],
    ])('names a file of authorities that is %s', async (_what, content, why) => {
      const path = await file('ca.pem', content);
      const { code, text } = await cli(args, { BROKER_URL: 'https://127.0.0.1:9', BROKER_CA_FILE: path });
      expect({ code, text }).toEqual({
        code: exitCodes.invalidInput,
        text: expect.stringContaining(`the CA file ${why}`) as string,
      });
    });
  });

  describe.each(VERBS.map((args) => [args.join(' '), args] as const))('%s', (_name, args) => {
    it('ends with the code of a refusal where the certificate is not trusted', async () => {
      const { port } = await trusted();
      const { code, text } = await cli(args, { BROKER_URL: `https://localhost:${port}` });
      expect(text).toMatch(/the certificate of localhost:\d+ is not trusted/);
      expect(text).toContain('give the file of the authority that has issued it, by BROKER_CA_FILE or --ca-file');
      expect(code).toBe(exitCodes.refused);
    });

    it('says what to do about a certificate of another authority, and about one for another name', async () => {
      const { port } = await trusted();
      const url = { BROKER_URL: `https://localhost:${port}` };
      const ofAnother = await cli(args, { ...url, BROKER_CA_FILE: await file('ca.pem', new TestAuthority().cert) });
      expect(ofAnother.text).toContain('BROKER_CA_FILE, or --ca-file, lacks the authority that has issued it');
      const other = await broker(
        LoopbackServer.https(authority.issue({ names: ['broker.internal'] }), (_request, response) => response.end()),
      );
      const ca = { BROKER_CA_FILE: await file('ca.pem', authority.cert) };
      const { code, text } = await cli(args, { BROKER_URL: `https://localhost:${other.port}`, ...ca });
      expect(text).toContain('is for another name');
      expect(text).toContain('use a name that the certificate has, in --url or BROKER_URL');
      expect(code).toBe(exitCodes.refused);
    });

    it.each([
      [
        'that is not accepted',
        'token-of-nobody',
        'give the token of a caller of this broker, by BROKER_TOKEN_FILE or --token-file',
      ],
      ['where none is given', undefined, 'no token is given: set BROKER_TOKEN_FILE, or give --token-file'],
    ])('says what to do about a token %s', async (_what, token, remedy) => {
      const { port } = await broker(
        LoopbackServer.http((_request, response) => {
          response.writeHead(401, { 'content-type': 'application/problem+json' });
          response.end(
            JSON.stringify({ type: `${PROBLEM}unauthenticated`, code: 'unauthenticated', title: 'Not known' }),
          );
        }),
      );
      const given = token === undefined ? {} : { BROKER_TOKEN_FILE: await file('oncall.token', token) };
      const { code, text } = await cli(args, { BROKER_URL: `http://127.0.0.1:${port}`, ...given });
      expect(text).toContain(remedy);
      expect(code).toBe(exitCodes.refused);
    });

    it('says that TLS is spoken where the address begins with http', async () => {
      const { port } = await trusted();
      const { code, text } = await cli(args, { BROKER_URL: `http://localhost:${port}` });
      expect(text).toContain(`the port speaks TLS, but the address begins with http (localhost:${port})`);
      expect(text).toContain('correct --url, or BROKER_URL');
      expect(code).toBe(exitCodes.invalidInput);
    });

    it('says that none is spoken where it begins with https', async () => {
      const { port } = await broker(LoopbackServer.http((_request, response) => response.end('{}')));
      const { code, text } = await cli(args, { BROKER_URL: `https://127.0.0.1:${port}` });
      expect(text).toContain('the port speaks no TLS, but the address begins with https');
      expect(text).toContain('correct --url, or BROKER_URL');
      expect(code).toBe(exitCodes.invalidInput);
    });

    it.each([
      [
        '404 of the management port',
        404,
        { type: `${PROBLEM}route_not_found`, code: 'route_not_found', title: 'none' },
      ],
      ['redirect', 302, ''],
      ['success of somebody else', 200, {}],
    ])('ends with the code of a wrong address by a %s', async (_what, answered, body) => {
      const { port } = await broker(
        LoopbackServer.http((_request, response) => {
          response.writeHead(answered, { 'content-type': 'application/json' });
          response.end(typeof body === 'string' ? body : JSON.stringify(body));
        }),
      );
      const { code, text } = await cli(args, { BROKER_URL: `http://127.0.0.1:${port}` });
      expect(text).toContain('correct --url, or BROKER_URL');
      expect(code).toBe(exitCodes.invalidInput);
    });

    it('ends with the code of a refusal by a proxy that lets nobody in', async () => {
      const { port } = await broker(
        LoopbackServer.http((_request, response) => {
          response.writeHead(403, { 'content-type': 'application/problem+json' }).end('{}');
        }),
      );
      const { code, text } = await cli(args, { BROKER_URL: `http://127.0.0.1:${port}` });
      expect(text).not.toContain('correct --url');
      expect(code).toBe(exitCodes.refused);
    });
  });

  describe('status --json has for programs why a replica says nothing, as code, message and remedy', () => {
    async function told(url: string): Promise<unknown> {
      const { text } = await cli(['status', '--json'], { BROKER_URL: url });
      const { ok, replicas } = JSON.parse(text) as { ok: boolean; replicas: readonly { error: unknown }[] };
      expect({ ok, count: replicas.length }).toEqual({ ok: false, count: 1 });
      return replicas[0]?.error;
    }

    async function answering(status: number, body: object): Promise<string> {
      const { port } = await broker(
        LoopbackServer.http((_request, response) => response.writeHead(status).end(JSON.stringify(body))),
      );
      return `http://127.0.0.1:${port}`;
    }

    it('of a proxy that does not reach the broker', async () => {
      expect(await told(await answering(502, {}))).toEqual({
        code: 'unexpected_answer',
        message: 'the answer is not of a broker [HTTP 502]',
        status: 502,
        remedy: expect.stringContaining('see whether it reaches the broker') as string,
      });
    });

    it('of a certificate that is not trusted', async () => {
      const { port } = await trusted();
      expect(await told(`https://localhost:${port}`)).toEqual({
        code: 'certificate_untrusted',
        message: expect.stringContaining(`the certificate of localhost:${port} is not trusted`) as string,
        remedy: expect.stringContaining('by BROKER_CA_FILE or --ca-file') as string,
      });
    });

    it('of an address with a path, or with the other scheme: which one to give', async () => {
      const url = await answering(404, { type: `${PROBLEM}route_not_found`, code: 'route_not_found', title: 'none' });
      expect(await told(`${url}/v1/`)).toEqual({
        code: 'route_not_found',
        message: 'none [HTTP 404, route_not_found]',
        status: 404,
        remedy: `correct --url, or BROKER_URL: give the address alone, ${url}`,
      });
      const { port } = await trusted();
      expect(await told(`http://localhost:${port}`)).toMatchObject({
        code: 'wrong_address',
        remedy: `correct --url, or BROKER_URL: https://localhost:${port}`,
      });
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
