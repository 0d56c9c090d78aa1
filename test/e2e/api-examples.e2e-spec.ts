import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWith, endedAfterAll, endedAfterEach, LoopbackServer, toolPath } from '#libs/testing';
import { RunningBroker, TOKENS } from './running-broker.js';

const run = promisify(execFile);
const fileOf = (name: string): string => fileURLToPath(new URL(`../../docs/examples/${name}`, import.meta.url));

/** A program in another language fits a page; who needs more has the egress. */
const MAX_LINES = 60;

interface Language {
  readonly language: string;
  readonly tools: readonly string[];
  readonly file: string;
  /** What runs it; Node.js by default. */
  readonly command?: () => readonly string[];
  readonly rejected: string;
  readonly last: RegExp;
}

const OPENED = /\nopened: a payment\n$/;
const LANGUAGES: readonly Language[] = [
  {
    language: 'curl',
    tools: ['curl'],
    file: 'session.sh',
    command: () => ['sh'],
    rejected: 'yes',
    last: OPENED,
  },
  { language: 'TypeScript', tools: [], file: 'session.ts', rejected: 'yes', last: OPENED },
  {
    language: 'Python',
    tools: ['python3'],
    file: 'session.py',
    command: () => [toolPath('python3')],
    rejected: 'yes\nfollowed: the same',
    last: OPENED,
  },
  {
    language: 'PHP',
    tools: ['php'],
    file: 'session.php',
    command: () => [toolPath('php')],
    rejected: 'yes\nfollowed: the same',
    last: OPENED,
  },
  {
    language: 'Go',
    tools: ['go'],
    file: 'session.go',
    command: () => [toolPath('go'), 'run'],
    rejected: 'true',
    last: /\nfollowed: true\n$/,
  },
];

/** A broker that is busy once: it refuses the first rejection for a second, and passes on everything else. */
async function busyOnce(url: string): Promise<{ readonly server: LoopbackServer; readonly refused: () => number }> {
  let refused = 0;
  const server = await LoopbackServer.http((request, response) => {
    const answer = async (): Promise<void> => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      if (request.method === 'POST' && refused === 0) {
        refused += 1;
        const problem = { code: 'session_unavailable', requestId: 'r-1' };
        response.writeHead(503, { 'retry-after': '1' }).end(JSON.stringify(problem));
        return;
      }
      const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers as Record<string, string>;
      const body = chunks.length === 0 ? {} : { body: Buffer.concat(chunks) };
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      const wanted = { method: request.method ?? 'GET', headers, signal: gone.signal, ...body };
      const passed = await fetch(url + request.url, wanted);
      response.writeHead(passed.status, { 'content-type': passed.headers.get('content-type') ?? '' });
      // Piece by piece: the event stream is among them.
      for await (const piece of passed.body ?? []) response.write(piece);
      response.end();
    };
    // A client that has seen enough goes away in the middle of the stream.
    answer().catch(() => response.destroy());
  });
  return { server, refused: () => refused };
}

const goSettings = (cache: string): Readonly<Record<string, string>> => ({
  GOCACHE: cache,
  GOFLAGS: '-mod=mod',
  GOPROXY: 'off',
  GOTOOLCHAIN: 'local',
});

async function outputOf(
  { file, command }: Language,
  url: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const [program = process.execPath, ...args] = command?.() ?? [];
  const env = { ...process.env, ...variables, BROKER_URL: url, BROKER_TOKEN: TOKENS.payments };
  return run(program, [...args, fileOf(file)], { env, timeout: 170_000 });
}

describe.each(LANGUAGES)('the example of the API in $language', (language) => {
  const { tools, file, ...expected } = language;
  describeWith(tools, 'as it stands', () => {
    let broker: RunningBroker;
    let cache: string;

    const installed = endedAfterAll();
    beforeAll(async () => {
      cache = installed.add(await mkdtemp(join(tmpdir(), 'examples-')), (it) => rm(it, { recursive: true }));
    });
    const started = endedAfterEach();
    beforeEach(async () => {
      broker = started.add(await RunningBroker.start(), (it) => it.close());
    });

    it('does what it says, and comes back to a broker that is busy', async () => {
      const front = await busyOnce(broker.url);
      started.add(front.server, (it) => it.close());
      const { stdout, stderr } = await outputOf(language, `http://127.0.0.1:${front.server.port}`, goSettings(cache));
      expect(stdout).toMatch(/^generation \d+ until 20\S+Z\nasked again: 304\n/);
      expect(stdout).toContain(`\nrejected: newer is ${expected.rejected}\n`);
      expect(stdout).toMatch(expected.last);
      expect(front.refused()).toBe(1);
      expect(stderr).toMatch(/\b1 ?s/);
      const shop = await broker.control('GET', '/calls?operation=authorize&merchant=shop');
      expect(shop).toMatchObject({ matching: 1 });
    });

    it('ends with the reason where there will be nothing for minutes', async () => {
      const problem = { code: 'session_unavailable', detail: 'the bank refuses', requestId: 'r-1' };
      const front = await LoopbackServer.http((_request, response) => {
        response.writeHead(503, { 'retry-after': '291' }).end(JSON.stringify(problem));
      });
      started.add(front, (it) => it.close());
      const ended = outputOf(language, `http://127.0.0.1:${front.port}`, goSettings(cache));
      const { stdout, stderr } = (await ended.catch((error: unknown) => error)) as Readonly<Record<string, string>>;
      expect(`${stdout}${stderr}`).toMatch(/session_unavailable.*the bank refuses/);
      expect(`${stdout}${stderr}`).not.toMatch(/\b0 ?s\b/);
    });

    it.each([
      ['nothing is set', '', /BROKER_URL/],
      ['nothing listens there', 'http://127.0.0.1:9', /nothing answers at .*BROKER_URL/],
    ])('says which variable to look at when %s', async (_what, url, says) => {
      const failed: unknown = await outputOf(language, url, goSettings(cache)).catch((error: unknown) => error);
      const { code, stderr } = failed as Readonly<Record<string, string | number>>;
      expect(stderr).toMatch(says);
      expect(stderr).not.toContain("not the broker's");
      expect(code).toBeGreaterThan(0);
    });

    it.each([
      ['{"msg":"Not found"}', 'application/json'],
      ['<html>Not found', 'text/html'],
    ])("says of an answer that is not the broker's that it is not: %s", async (body, type) => {
      const front = await LoopbackServer.http((_request, response) => {
        response.writeHead(404, { 'content-type': type }).end(body);
      });
      started.add(front, (it) => it.close());
      const ended = outputOf(language, `http://127.0.0.1:${front.port}`, goSettings(cache));
      const { stdout, stderr } = (await ended.catch((error: unknown) => error)) as Readonly<Record<string, string>>;
      expect(`${stdout}${stderr}`).toMatch(/not the broker's: is BROKER_URL right\?/);
    });

    if (file !== 'session.ts') {
      it('takes less than a page', async () => {
        const lines = (await readFile(fileOf(file), 'utf8')).trimEnd().split('\n');
        expect(lines.length).toBeLessThan(MAX_LINES);
      });
    }
  });
});

describeWith(['curl', 'python3'], 'the first three examples, one after the other', () => {
  const started = endedAfterEach();

  it('wait for nothing, and are not taken for somebody else who creates sessions', async () => {
    const broker = started.add(await RunningBroker.start(), (it) => it.close());
    for (const language of LANGUAGES.slice(0, 3)) {
      const { stdout, stderr } = await outputOf(language, broker.url);
      expect(stdout).toMatch(OPENED);
      expect(stderr).not.toMatch(/wait|retry/i);
    }
    const shop = await broker.control('GET', '/calls?operation=authorize&merchant=shop');
    expect(shop).toMatchObject({ matching: 1 });
  });
});
