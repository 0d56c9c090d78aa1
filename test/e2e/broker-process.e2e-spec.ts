import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { generateClientKey } from '#libs/jwe';
import { OLDEST_NODE } from '#libs/program';
import { endedAfterEach, eventually } from '#libs/testing';
import {
  type Replica,
  type ReplicaWish,
  serviceCodeOf,
  TOKEN,
  WatchedReplicas,
} from '../observability/watched-replicas.js';
import { ProgramProcess } from './program-process.js';

const SHOP = { id: 'shop', lifetimeMs: 3_600_000, timeout: '60s' };
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

const said = (message: string): RegExp => new RegExp(`"msg":"${message}"`);
/** What Node.js runs before the program. */
const before = (program: string): Readonly<Record<string, string>> => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}`,
});

function expectJsonLines(out: string): void {
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(lines.some(({ stream }) => stream === 'audit')).toBe(true);
  const own = { level: expect.any(String), time: expect.stringMatching(/Z$/), name: 'broker', msg: expect.any(String) };
  for (const line of lines.filter(({ stream }) => stream !== 'audit')) expect(line).toMatchObject(own);
  expect(out).not.toContain(serviceCodeOf(0));
}

describe('the broker as a process', () => {
  const started = endedAfterEach();

  /** With a session. */
  async function start(wish: ReplicaWish = {}): Promise<Replica> {
    const watched = started.add(await WatchedReplicas.alone([SHOP], wish), (it) => it.stop());
    const [broker] = watched.replicas as [Replica];
    await broker.process.said(said('session renewed'));
    return broker;
  }
  const scraped = async ({ management }: Replica): Promise<string> =>
    (await fetch(`http://${management}/metrics`)).text();

  it('serves, is alive and ends in order while nobody reads its log any more', async () => {
    const broker = await start();
    broker.process.stall();
    const merchant = `${broker.url}/v1/merchants/shop`;
    // Each writes an audit record to the same pipe: more in total than the pipe and its reader hold.
    const body = '{"jwe":"a.b.c.d.e"}';
    const open = async (): Promise<number> =>
      (await fetch(`${merchant}/payloads/decrypt`, { method: 'POST', headers: HEADERS, body })).status;
    for (let batch = 0; batch < 100; batch += 1)
      expect(await Promise.all(Array.from({ length: 10 }, open))).toEqual(Array(10).fill(400));
    expect((await fetch(`${merchant}/session`, { headers: HEADERS })).status).toBe(200);
    expect((await fetch(`http://${broker.management}/livez`)).status).toBe(200);
    expect(await scraped(broker)).toMatch(/^session_broker_lost_log_lines_total 0$/m);
    broker.process.signal('SIGTERM');
    expect(await broker.process.exited).toBe(0);
  });

  it('renews, answers a scrape, logs one JSON object per line, and ends on SIGTERM with code 0', async () => {
    const broker = await start();
    await fetch(`${broker.url}/v1/merchants/shop/session`, { headers: HEADERS });
    const scrape = await scraped(broker);
    broker.process.signal('SIGTERM');
    expect(await broker.process.ended).toBe(0);
    expect(broker.process.err).toBe('');
    expectJsonLines(broker.process.out);
    for (const line of [
      'session_broker_renewals_total{merchant="shop",trigger="startup",outcome="success"} 1',
      'session_broker_reads_total{merchant="shop",result="fresh"} 1',
      'session_broker_store_up 1',
    ]) {
      expect(scrape).toContain(`${line}\n`);
    }
    expect(scrape).not.toMatch(/target_info|otel_scope|process_pid/);
  });

  it.each([
    ['no configuration', 'broker', { BROKER_CONFIG: '' }, 'BROKER_CONFIG'],
    ...(['broker', 'egress'] as const).map((app) => {
      const old = before(`Object.defineProperty(process.versions, 'node', { value: '20.20.2' });`);
      const says = `session-${app} cannot start: Node.js 20.20.2 is too old: run at least ${OLDEST_NODE}; a clone has one of its own: `;
      return [`a Node.js that is too old, before all else, as ${app}`, app, old, says] as const;
    }),
  ] as const)('says in one line that it cannot start: %s', async (...row) => {
    const [, app, environment, says] = row;
    const program = new ProgramProcess(app, { environment });
    expect(await program.ended).toBe(1);
    expect(program.err.trimEnd().split('\n')).toEqual([expect.stringContaining(says)]);
  });

  const FAULTY = `const secret = ['a', 'secret'].join('-');
    const error = () => Object.assign(new TypeError(secret + '\\n at ' + secret), { token: secret });`;

  it.each([
    ['a callback', `process.on('SIGUSR2', function faulty() { throw error(); });`, / at .*faulty.*\n$/],
    ['a promise', `process.on('SIGUSR2', function faulty() { void Promise.reject(error()); });`, / at .*faulty.*\n$/],
    [
      'what the bundle has, by its source',
      `const { abort } = AbortController.prototype;
      process.on('SIGUSR2', () => {
        AbortController.prototype.abort = () => {
          AbortController.prototype.abort = abort;
          throw error();
        };
        process.emit('SIGTERM');
      });`,
      / \(libs\/program\/src\/program-signals\.ts:\d+:\d+\)/,
    ],
  ])('ends after an error that nobody caught, and says where it was but not what: %s', async (_what, fault, place) => {
    const { process } = await start({ environment: before(FAULTY + fault) });
    process.signal('SIGUSR2');
    expect(await process.ended).toBe(1);
    expect(process.err).toMatch(new RegExp(`^nobody caught: TypeError.*${place.source}`));
    expect(process.err + process.out).not.toContain('a-secret');
    expect(process.err).not.toContain('dist/programs');
    expect(process.out).toMatch(said('broker stopped'));
  });

  it('takes files that change, by itself and on SIGHUP, and counts what it cannot take', async () => {
    const broker = await start({ sections: { reload: { every: '1s' }, log: { level: 'info' } } });
    const { process, file } = broker;
    const metric = async (name: string): Promise<number> =>
      Number(new RegExp(`^session_broker_${name} (\\S+)$`, 'm').exec(await scraped(broker))?.[1] ?? 0);
    const configure = async (level: string): Promise<void> => {
      const configuration = JSON.parse(await readFile(file, 'utf8')) as object;
      await writeFile(file, JSON.stringify({ ...configuration, log: { level } }));
    };
    const next = await generateClientKey();
    await writeFile(join(dirname(file), 'shop-0.json'), JSON.stringify(next.privateJwk));
    await process.said(/"changed":"shop",.*"msg":"the changed configuration is in force"/);
    const held = await fetch(`${broker.url}/v1/merchants/shop/client-key`, { headers: HEADERS });
    expect(await held.json()).toMatchObject({ thumbprint: next.thumbprint });
    await configure('wrong');
    await process.said(/"path":"log.level".*"msg":"the changed configuration is not taken/);
    expect(await metric('config_last_reload_successful')).toBe(0);
    expect(await metric('config_reload_failures_total')).toBe(1);
    await configure('debug');
    process.signal('SIGHUP');
    await process.said(/"settings":"log.level","msg":"the changed configuration is in force"/);
    await eventually(async () => (await metric('config_last_reload_successful')) === 1);
    expect(await metric('config_reload_failures_total')).toBe(1);
    expect(process.out.match(/"msg":"session renewed"/g)).toHaveLength(1);
    process.signal('SIGTERM');
    expect(await process.ended).toBe(0);
  });
});
