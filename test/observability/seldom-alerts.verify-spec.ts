import { readFileSync, writeFileSync } from 'node:fs';
import { describeWith, endedAfterAll, eventually, freePort, TcpProxy, TestIssuer } from '#libs/testing';
import { RULES } from '../deploy/monitoring.js';
import { AlertTimes } from './alert-times.js';
import { hastened, PrometheusProcess } from './prometheus-process.js';
import { WatchedReplicas } from './watched-replicas.js';

const DAY_MS = 86_400_000;
const MERCHANTS = ['steady', 'rejected', 'fenced', 'spoilt', 'refused'].map((id) => ({
  id,
  lifetimeMs: DAY_MS,
  budget: 100,
  // With the shortest pause, sessions are rejected often enough for the alerts that count rejections.
  foreignAuthorizerPause: '10s',
  timeout: '15s',
}));
const FAULTS = [
  { kind: 'error', operation: 'authorize', merchant: 'refused', status: 200, msgCode: 'b_merchant_not_found' },
];
/** Faults that are played at the same time, each on its own merchant or replica. */
describeWith(['redis-server', 'prometheus'], 'a real Prometheus, in trouble that is rare', () => {
  let watched: WatchedReplicas;
  let prometheus: PrometheusProcess;
  let proxy: TcpProxy;

  const started = endedAfterAll();
  beforeAll(async () => {
    watched = started.add(await WatchedReplicas.start(MERCHANTS, FAULTS, 1), (it) => it.stop());
    proxy = started.add(await TcpProxy.to(watched.redis.address.port), (it) => it.close());
    await watched.add({ redisUrl: `redis://127.0.0.1:${proxy.address.port}` });
    prometheus = started.add(
      await PrometheusProcess.start({
        targets: watched.targets,
        rules: hastened(readFileSync(RULES, 'utf8')),
      }),
      (it) => it.stop(),
    );
    const sessions = async (): Promise<string | undefined> =>
      (await prometheus.query('count(session_broker_session_generation)'))[0]?.value?.[1];
    await eventually(async () => (await sessions()) === '8');
  });

  const times = new AlertTimes(() => prometheus);
  afterAll(() => times.print());
  const recordOf = (merchant: string): string => `session-broker:{0}:merchant:${merchant}`;

  it('is silent on all of it before, but for the merchant that the gateway refuses', async () => {
    const noise = async (): Promise<string[]> =>
      [...(await prometheus.firing())].filter(
        (name) => !/^SessionBroker(?:AccessRefused|NoSession|RenewalsFailing)/.test(name),
      );
    // While it is starting, Prometheus has seen no replica.
    await eventually(async () => (await noise()).length === 0);
  });

  it('fires for records that nobody can open', async () => {
    const generation = await watched.generationOf('spoilt');
    const next = String(generation + 1);
    watched.redis.cli('HSET', recordOf('spoilt'), 'sealed', 'spoilt', 'generation', next, 'fence', next);
    const announced = { kind: 'changed', merchant: 'spoilt', generation: generation + 1 };
    watched.redis.cli('PUBLISH', 'session-broker:announcements', JSON.stringify(announced));
    await times.fires('a stored session that opens with no key', 'SessionBrokerUnopenableRecords:spoilt');
  });

  it('fires for a session that came after somebody else was given its lease', async () => {
    await watched.control('POST', '/faults', {
      kind: 'latency',
      operation: 'authorize',
      merchant: 'fenced',
      // Long enough for the commands that give its lease away, on a busy machine too.
      delayMs: 5_000,
      times: 1,
    });
    const rejected = watched.reject('fenced', await watched.generationOf('fenced'));
    const calls = async (): Promise<number> =>
      ((await watched.control('GET', '/calls?operation=authorize&merchant=fenced')) as { matching: number }).matching;
    await eventually(async () => (await calls()) === 2);
    const fence = Number(watched.redis.cli('HGET', recordOf('fenced'), 'fence'));
    watched.redis.cli('HSET', recordOf('fenced'), 'fence', String(fence + 1));
    await rejected;
    await times.fires('a session that comes after its lease', 'SessionBrokerResultsTooLate:fenced');
  });

  it('fires while callers cannot be authenticated, and falls silent when they can be refused or let in again', async () => {
    const [{ file, process } = { file: '', process: undefined }] = watched.replicas;
    const good = readFileSync(file, 'utf8');
    const { ISSUER: issuer, AUDIENCE: audience } = TestIssuer;
    const parsed = JSON.parse(good) as { auth: object };
    const jwt = { issuer, audience, jwksUri: `http://127.0.0.1:${await freePort()}/jwks` };
    writeFileSync(file, JSON.stringify({ ...parsed, auth: { ...parsed.auth, jwt } }));
    process?.signal('SIGHUP');
    const token = new TestIssuer().token(Date.now());
    const read = (): Promise<number> => watched.readWith(token, 'steady');
    await times.fires('an issuer without keys', 'SessionBrokerAuthenticationUnavailable', read);
    expect(await read()).toBe(503);
    writeFileSync(file, good);
    process?.signal('SIGHUP');
    await times.ends('SessionBrokerAuthenticationUnavailable', read);
    expect(await read()).toBe(401);
  });

  it('fires for replicas that hold different sessions, and falls silent when they agree again', async () => {
    proxy.passage = 'cut';
    await watched.reject('steady', await watched.generationOf('steady'));
    await times.fires('replicas with different sessions', 'SessionBrokerReplicasDisagree:steady');
    proxy.passage = 'open';
    proxy.reset();
    await times.ends('SessionBrokerReplicasDisagree:steady');
  });

  it('fires for sessions that one consumer rejects again and again, and for the calls that it costs', async () => {
    const reject = async (): Promise<void> => {
      await watched.reject('rejected', await watched.generationOf('rejected'));
    };
    const alerts = [
      'SessionBrokerRejectionStorm:rejected',
      'SessionBrokerTooManyCreateCalls:rejected',
      'SessionBrokerUnconfirmedRejections:rejected',
    ];
    await Promise.all(alerts.map((alert) => times.fires('sessions that are reported dead', alert, reject)));
  });

  it('fires for a replica whose standard output nobody reads any more', async () => {
    const [, { file, process } = { file: '', process: undefined }] = watched.replicas;
    process?.stopReading();
    // Each refusal is a line.
    writeFileSync(file, '{');
    await times.fires('a log that nobody reads', 'SessionBrokerLogLinesLost', async () => process?.signal('SIGHUP'));
  });

  it('names in all of it only those in trouble', async () => {
    const firing = [...(await prometheus.firing())];
    expect(firing.filter((name) => name.endsWith(':steady'))).toEqual([]);
  });
});
