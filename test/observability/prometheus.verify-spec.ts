import { readFileSync } from 'node:fs';
import { describeWith, endedAfterAll, eventually } from '#libs/testing';
import { metricsIn, queries, rules, RULES } from '../deploy/monitoring.js';
import { emptyQueries, verdicts } from './shown-panels.js';
import { AlertTimes } from './alert-times.js';
import { PlayedEgress } from './played-egress.js';
import { hastened, PrometheusProcess } from './prometheus-process.js';
import { WatchedReplicas } from './watched-replicas.js';

const MERCHANTS = [
  { id: 'steady', lifetimeMs: 20_000 },
  // The first of its alerts can be seen for a third of a lead time: more than four seconds of this one.
  { id: 'failing', lifetimeMs: 30_000 },
  { id: 'refused', lifetimeMs: 60_000 },
  { id: 'spent', lifetimeMs: 600_000, budget: 2 },
  { id: 'exhausted', lifetimeMs: 60_000, budget: 2 },
  { id: 'skewed', lifetimeMs: 60_000 },
];

const FAULTS = [
  { kind: 'error', operation: 'authorize', merchant: 'exhausted' },
  { kind: 'error', operation: 'authorize', merchant: 'refused', status: 200, msgCode: 'b_merchant_not_found' },
  { kind: 'clock_skew', operation: 'authorize', merchant: 'skewed', skewMs: 30_000 },
];

describeWith(['redis-server', 'prometheus'], 'a real Prometheus that watches two replicas', () => {
  let watched: WatchedReplicas;
  let prometheus: PrometheusProcess;
  let egress: PlayedEgress;

  const started = endedAfterAll();
  beforeAll(async () => {
    watched = started.add(await WatchedReplicas.start(MERCHANTS, FAULTS, 2), (it) => it.stop());
    egress = started.add(await PlayedEgress.start(), (it) => it.stop());
    egress.doEverything();
    prometheus = started.add(
      await PrometheusProcess.start({
        targets: watched.targets,
        egresses: [egress.target],
        rules: hastened(readFileSync(RULES, 'utf8')),
      }),
      (it) => it.stop(),
    );
  });

  const fires = (alert: string): Promise<void> => eventually(async () => (await prometheus.firing()).has(alert));
  const times = new AlertTimes(() => prometheus);
  afterAll(() => times.print());
  const shows = (title: string, colour: string, merchant?: string): Promise<void> =>
    eventually(async () => (await verdicts(prometheus, merchant === undefined ? {} : { merchant }))[title] === colour);

  it('sees both of them', async () => {
    await eventually(async () => (await prometheus.query('sum(up{job="session-broker"})'))[0]?.value?.[1] === '2');
    await eventually(async () => (await prometheus.query('count(session_broker_session_generation)')).length > 0);
  });

  it('fires for a merchant that the gateway refuses, and for one whose clock is wrong', async () => {
    await fires('SessionBrokerAccessRefused:refused');
    await fires('SessionBrokerNoSession:refused');
    await fires('SessionBrokerClockSkew:skewed');
    await shows('Worst condition', 'red', 'refused');
    await shows('Time without a session', 'red', 'refused');
  });

  it('is silent on a merchant that is well, and on a store and replicas that are', async () => {
    await eventually(async () => (await watched.read('steady')) === 200);
    const firing = [...(await prometheus.firing())];
    expect(firing.filter((name) => name.endsWith(':steady'))).toEqual([]);
    for (const alert of ['SessionBrokerStoreDown', 'SessionBrokerReplicaDown', 'SessionBrokerAbsent']) {
      expect(firing).not.toContain(alert);
    }
    for (const title of ['Worst condition', 'Merchants in red', 'Store', 'Scraped'])
      await shows(title, 'green', 'steady');
  });

  it('fires as a session runs out: first that it will, that renewals fail, then that there is none', async () => {
    await watched.control('POST', '/faults', { kind: 'error', operation: 'authorize', merchant: 'failing' });
    await Promise.all([
      times.fires('a gateway that fails', 'SessionBrokerSessionExpiring:failing'),
      shows('Least lead time left', 'orange', 'failing'),
      shows('Worst condition', 'orange', 'failing'),
    ]);
    await fires('SessionBrokerNoSession:failing');
    await shows('Least lead time left', 'red', 'failing');
    await shows('Worst condition', 'red', 'failing');
    await fires('SessionBrokerRenewalsFailing:failing');
  });

  it('fires when the budget of create calls is spent', () => fires('SessionBrokerBudgetExhausted:exhausted'));

  it('fires when a session is reported dead and cannot be replaced', async () => {
    await watched.control('POST', '/faults', { kind: 'error', operation: 'authorize', merchant: 'spent' });
    const generation = await watched.generationOf('spent');
    await times.fires('a dead session that is not replaced', 'SessionBrokerSessionDead:spent', () =>
      watched.reject('spent', generation),
    );
    expect(await prometheus.firing()).not.toContain('SessionBrokerBudgetExhausted:spent');
    await shows('Worst condition', 'red', 'spent');
  });

  it('fires when the store is gone, and falls silent when it is back', async () => {
    await watched.redis.kill();
    await times.fires('a store that is gone', 'SessionBrokerStoreDown');
    await shows('Store', 'red');
    await watched.redis.start();
    await times.ends('SessionBrokerStoreDown');
    await shows('Store', 'green');
  });

  it('sees what consumers do: a session that is rejected, a credential that is wrong', async () => {
    expect(await watched.reject('steady', await watched.generationOf('steady'))).toBe(200);
    expect(await watched.readWith('wrong', 'steady')).toBe(401);
    // A rate needs two scrapes, of the replica that answered.
    for (const counted of ['rejections', 'authentication_failures']) {
      const rate = `rate(session_broker_${counted}_total[5s])`;
      await eventually(async () => (await prometheus.query(rate)).length > 0);
    }
  });

  it('shows the alerts that fire on the dashboard', async () => {
    expect((await emptyQueries(prometheus)).filter((shown) => /alerts/i.test(shown))).toEqual([]);
  });

  it('answers every expression of the rules', async () => {
    for (const { expr } of rules) await prometheus.query(hastened(expr));
    const recorded = new Set(rules.flatMap(({ record }) => (record === undefined ? [] : [record])));
    for (const record of recorded)
      expect([record, (await prometheus.query(record)).length > 0]).toEqual([record, true]);
  });

  it('knows every metric that rules and dashboard name, but for those of what has not happened', async () => {
    const named = new Set([...rules, ...queries].flatMap(({ expr }) => metricsIn(expr)));
    const names = await prometheus.query('count by (__name__) ({__name__=~".+"})');
    const known = new Set(names.map(({ metric }) => metric['__name__']));
    const unseen = [...named].filter((name) => !known.has(name)).sort();
    const notYet = [
      'session_broker_fenced_publish_rejected_total',
      'session_broker_late_results_total',
      'session_broker_unconfirmed_rejections_total',
      'session_broker_unopenable_records_total',
    ];
    expect(unseen.filter((name) => !notYet.includes(name))).toEqual([]);
  });

  it('fires for one replica that is gone, and for all of them', async () => {
    await watched.end(0);
    await times.fires('a replica that is gone', 'SessionBrokerReplicaDown');
    await shows('Scraped', 'orange');
    expect(await prometheus.firing()).not.toContain('SessionBrokerAbsent');
    await watched.end(1);
    await times.fires('all replicas are gone', 'SessionBrokerAbsent');
    await shows('Scraped', 'red');
  });
});
