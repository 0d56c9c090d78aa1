import { readFileSync } from 'node:fs';
import { describeWith, endedAfterAll, eventually } from '#libs/testing';
import { RULES } from '../deploy/monitoring.js';
import { AlertTimes } from './alert-times.js';
import { PlayedEgress } from './played-egress.js';
import { hastened, PrometheusProcess } from './prometheus-process.js';
import { verdicts } from './shown-panels.js';

describeWith('prometheus', 'a real Prometheus that watches an egress', () => {
  let egress: PlayedEgress;
  let prometheus: PrometheusProcess;

  const started = endedAfterAll();
  beforeAll(async () => {
    egress = started.add(await PlayedEgress.start(), (it) => it.stop());
    egress.end('answered');
    const rules = hastened(readFileSync(RULES, 'utf8'));
    prometheus = started.add(await PrometheusProcess.start({ targets: [], egresses: [egress.target], rules }), (it) =>
      it.stop(),
    );
  });

  const firing = async (): Promise<string[]> =>
    [...(await prometheus.firing())].filter((name) => name.startsWith('SessionEgress'));
  const times = new AlertTimes(() => prometheus);
  afterAll(() => times.print());
  const shows = (title: string, colour: string): Promise<void> =>
    eventually(async () => (await verdicts(prometheus))[title] === colour);

  it('is silent while payments are answered', async () => {
    await eventually(async () => (await prometheus.query('session_egress_requests_total')).length > 0);
    expect(await firing()).toEqual([]);
    await shows('Payments refused for their session', 'green');
    await shows('Payments whose fate nobody knows', 'green');
  });

  it('fires for the first payment whose fate nobody knows', async () => {
    egress.end('unknown');
    await times.fires('a payment without an answer', 'SessionEgressOutcomesUnknown:shop');
    await shows('Payments whose fate nobody knows', 'red');
  });

  it('fires for a merchant whose session has ended, and for one that never had any', async () => {
    egress.hold('ended', { expiresAtMs: 1 });
    egress.hold('new', { generation: undefined, expiresAtMs: undefined });
    await Promise.all([
      times.fires('an egress whose session has ended', 'SessionEgressWithoutSession:ended'),
      times.fires('an egress that never had a session', 'SessionEgressWithoutSession:new'),
    ]);
    expect(await firing()).not.toContain('SessionEgressWithoutSession:shop');
    await shows('Egress without a session', 'red');
    egress.hold('ended');
    egress.hold('new');
    await times.ends('SessionEgressWithoutSession:ended');
    await shows('Egress without a session', 'green');
  });

  it('fires when the broker is away, and falls silent when it is back', async () => {
    egress.hold('shop', { isFollowing: false });
    await times.fires('an egress that hears nothing of the broker', 'SessionEgressNotFollowing:shop');
    await shows('Egress not following', 'orange');
    egress.hold('shop');
    await times.ends('SessionEgressNotFollowing:shop');
    await shows('Egress not following', 'green');
  });

  it('fires for sessions that die in use again and again', async () => {
    await times.fires('sessions that die in use', 'SessionEgressRepeats:shop', async () => {
      egress.instruments.deadSession('shop', 'b_expired_token');
      egress.instruments.repeat('shop');
      egress.end('answered');
    });
    await shows('Payments refused for their session', 'green');
  });

  it('shows a payment that was refused for a dead session, and was not repeated', async () => {
    egress.instruments.deadSession('shop', 'http_401');
    egress.end('answered');
    await shows('Payments refused for their session', 'red');
  });

  it('fires for a configuration that was not taken, and falls silent when it is right', async () => {
    expect(await firing()).not.toContain('SessionEgressConfigReloadFailed');
    egress.instruments.reloaded(false);
    await times.fires('a configuration that is not taken', 'SessionEgressConfigReloadFailed');
    egress.instruments.reloaded(true);
    await times.ends('SessionEgressConfigReloadFailed');
  });

  it('fires for a log that nobody reads, and falls silent when no more of it is lost', async () => {
    expect(await firing()).not.toContain('SessionEgressLogLinesLost');
    egress.loseLine();
    await times.fires('a log that nobody reads', 'SessionEgressLogLinesLost');
    await times.ends('SessionEgressLogLinesLost');
  });

  it('fires for an egress that is not scraped', async () => {
    expect(await firing()).not.toContain('SessionEgressDown');
    await egress.close();
    await times.fires('an egress that is gone', 'SessionEgressDown');
  });

  it('fires for one that was there and is no target any more, which no scrape can tell', async () => {
    expect(await firing()).not.toContain('SessionEgressAbsent');
    await prometheus.losesTargets();
    await times.fires('an egress that is no target any more', 'SessionEgressAbsent');
    await eventually(async () => !(await firing()).includes('SessionEgressDown'));
  });
});
