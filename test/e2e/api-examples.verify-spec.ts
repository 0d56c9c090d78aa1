import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWith, endedAfterEach, LoopbackServer, toolPath } from '#libs/testing';
import { RunningBroker, TOKENS } from './running-broker.js';

const run = promisify(execFile);
const fileOf = (name: string): string => fileURLToPath(new URL(`../../docs/examples/${name}`, import.meta.url));

interface Language {
  readonly tool: 'curl' | 'python3';
  readonly command: () => readonly string[];
  readonly rejected: string;
}

const SET_BOTH = /set BROKER_URL and BROKER_TOKEN/;
const OPENED = /\nopened: a payment\n$/;
const LANGUAGES: readonly Language[] = [
  { tool: 'curl', command: () => ['sh', fileOf('session.sh')], rejected: 'yes' },
  {
    tool: 'python3',
    command: () => [toolPath('python3'), fileOf('session.py')],
    rejected: 'yes\nfollowed: the same',
  },
];

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text: string;
}

const busy = (status: number): Answer => {
  const problem = { code: 'session_unavailable', title: 'No session', requestId: 'r-1' };
  return { status, headers: { 'retry-after': '1' }, text: JSON.stringify(problem) };
};
const forbidden: Answer = {
  status: 403,
  text: JSON.stringify({ code: 'forbidden', detail: 'the policy has no such right', requestId: 'r-1' }),
};
const page: Answer = { status: 200, headers: { 'content-type': 'text/html' }, text: '<html>Welcome' };

interface Front {
  readonly server: LoopbackServer;
  /** Each request as its path and its number among those to that path, such as `/session 2`. */
  readonly requests: readonly string[];
}

/** Passes on to a broker whatever it does not answer itself. */
async function inFrontOf(url: string, own: Readonly<Record<string, Answer>>): Promise<Front> {
  const requests: string[] = [];
  const server = await LoopbackServer.http((request, response) => {
    const path = (request.url ?? '').replace('/v1/merchants/shop', '');
    const name = `${path} ${requests.filter((it) => it.startsWith(`${path} `)).length + 1}`;
    requests.push(name);
    const answer = async (): Promise<void> => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { status, headers: told, text } = own[name] ?? {};
      if (status !== undefined) return void response.writeHead(status, told).end(text);
      const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers as Record<string, string>;
      const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      const wanted = { method: request.method ?? 'GET', headers, signal: gone.signal, ...body };
      const passed = await fetch(url + request.url, wanted);
      response.writeHead(passed.status, { 'content-type': passed.headers.get('content-type') ?? '' });
      // Piece by piece: one of them is the event stream.
      for await (const piece of passed.body ?? []) response.write(piece);
      response.end();
    };
    // A client that has seen enough leaves in the middle of the stream.
    answer().catch(() => response.destroy());
  });
  return { server, requests };
}

async function outputOf(
  [program = '', ...args]: readonly string[],
  url: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const env = { ...process.env, BROKER_URL: url, BROKER_TOKEN: TOKENS.payments, ...variables };
  return run(program, args, { env, timeout: 170_000 });
}

interface Ended {
  readonly code?: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a program that ends by itself prints, whatever its exit code. */
const ended = (running: Promise<{ readonly stdout: string; readonly stderr: string }>): Promise<Ended> =>
  running.catch((error: unknown) => error as Ended);

describe.each(LANGUAGES)('the example of the API by $tool', ({ tool, command: commandOf, rejected }) => {
  describeWith([tool], 'as it stands', () => {
    let command: readonly string[];
    beforeAll(() => {
      command = commandOf();
    });
    const started = endedAfterEach();

    it('does what it says, and comes back to a broker that is busy', async () => {
      const broker = started.add(await RunningBroker.start(), (it) => it.close());
      const front = await inFrontOf(broker.url, { '/session 2': busy(429), '/session/rejections 1': busy(503) });
      started.add(front.server, (it) => it.close());
      const url = `http://127.0.0.1:${front.server.port}`;
      // Variables may end in a line break.
      const variables = { BROKER_TOKEN: `${TOKENS.payments}\r\n`, BROKER_URL: `${url}\n` };
      const { stdout, stderr } = await outputOf(command, url, variables);
      expect(stdout).toMatch(/^generation \d+ until 20\S+Z\nasked again: 304\n/);
      expect(stdout).toContain(`\nrejected: newer is ${rejected}\n`);
      expect(stdout).toMatch(OPENED);
      expect(front.requests).toEqual(expect.arrayContaining(['/session 3', '/session/rejections 2']));
      expect(stderr.match(/\b1 ?s/g)).toHaveLength(2);
      const shop = await broker.control('GET', '/calls?operation=authorize&merchant=shop');
      expect(shop).toMatchObject({ matching: 1 });
    });

    it("tells at each request what the broker refuses, and that an answer is not the broker's", async () => {
      const broker = started.add(await RunningBroker.start(), (it) => it.close());
      const ask = async (own: Readonly<Record<string, Answer>>): Promise<Ended & Pick<Front, 'requests'>> => {
        const { server, requests } = await inFrontOf(broker.url, own);
        started.add(server, (it) => it.close());
        return { ...(await ended(outputOf(command, `http://127.0.0.1:${server.port}`))), requests };
      };
      const { requests } = await ask({});
      expect(requests.length).toBeGreaterThanOrEqual(4);
      const refused = requests.map(async (it) => ({ it, ...(await ask({ [it]: forbidden })) }));
      const strange = requests.map(async (it) => ({ it, ...(await ask({ [it]: page })) }));
      const told = (ends: readonly (Ended & { it: string })[], says: RegExp): readonly string[] =>
        ends.filter(({ code = 0, stdout, stderr }) => code > 0 && says.test(`${stdout}${stderr}`)).map(({ it }) => it);
      expect(told(await Promise.all(refused), /forbidden.*the policy has no such right/)).toEqual(requests);
      // An absent field leaves no trace.
      const loose = (await Promise.all(refused)).filter(({ stdout, stderr }) =>
        /; *(?:;|request|\()/.test(stdout + stderr),
      );
      expect(loose).toEqual([]);
      expect(told(await Promise.all(strange), /not the broker's: is BROKER_URL right\?/)).toEqual(requests);
    });

    it.each([
      ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
      ['a redirect', 'HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n'],
    ])('says where to look when an answer is %s', async (_what, octets) => {
      const server = await LoopbackServer.tcp((socket) => void socket.on('error', () => socket.destroy()).end(octets));
      started.add(server, (it) => it.close());
      const { code, stdout, stderr } = await ended(outputOf(command, `http://127.0.0.1:${server.port}`));
      expect(stderr + stdout).toMatch(/nothing answers at .*BROKER_URL|not the broker's: is BROKER_URL right\?/);
      expect(stdout).not.toContain('generation');
      expect(code).toBeGreaterThan(0);
      expect(server.connections).toBe(1);
    });

    it.each([
      ['the token has a line break', { BROKER_TOKEN: 'can\nary' }, SET_BOTH],
      ['nothing listens there', {}, /nothing answers at .*BROKER_URL/],
    ])('says which variable to look at when %s', async (_what, variables, says) => {
      const { code, stderr } = await ended(outputOf(command, 'http://127.0.0.1:9', variables));
      expect(stderr).toMatch(says);
      expect(stderr).not.toMatch(/not the broker's|panic|ary|Traceback|https?:\/\/\?/);
      expect(code).toBeGreaterThan(0);
    });
  });
});
