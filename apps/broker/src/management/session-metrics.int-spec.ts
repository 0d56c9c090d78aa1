import { VirtualClock, instantFromEpochMs } from '#libs/clock';
import { GatewayFailure, HeldSessions, type MerchantCondition, merchantConditions } from '#libs/session';
import { createInstruments, createLogger, startTelemetry, type Telemetry } from '#libs/telemetry';
import { MerchantLabels } from './merchant-labels.js';
import { SessionMetrics } from './session-metrics.js';

/** The samples of a scrape, by series. */
async function scraped({ scrape }: Telemetry): Promise<Map<string, number>> {
  const text = await new Promise<string>((resolve) =>
    scrape({ headers: {} }, { writeHead: () => undefined, end: (body) => resolve(String(body)) }),
  );
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

describe('the counters of a replica that has done nothing yet', () => {
  const clock = new VirtualClock(instantFromEpochMs(1_000));
  let telemetry: Telemetry;
  let metrics: SessionMetrics;
  let merchants = ['shop', 'kiosk', 'till', 'bar'];
  const conditions: Readonly<Record<string, MerchantCondition>> = { kiosk: 'failing', till: 'stale', bar: 'dead' };

  beforeAll(async () => {
    const logger = createLogger({ name: 'broker', level: 'error' });
    telemetry = await startTelemetry({ serviceName: 'session-broker', serviceVersion: '1', logger });
    metrics = new SessionMetrics(createInstruments(telemetry.meter), {
      replica: {
        held: new HeldSessions(clock),
        retryInMs: () => undefined,
        hasForeignAuthorizer: () => false,
        conditionOf: (merchant) => conditions[merchant] ?? 'fresh',
      },
      clock,
      labels: () => new MerchantLabels(merchants, 2),
      merchants: () => merchants,
      reads: () => [{ merchant: 'shop', result: 'fresh', count: 3 }],
      unconfirmedRejections: () => [],
      store: () => 'answers',
      watchers: () => 0,
      authenticationFailures: () => [['missing', 0]],
      endedConnections: () => [{ port: 'api', reason: 'unread', count: 0 }],
      certificates: () => [{ setting: 'http.tls.certFile', endsAtMs: 1_800_000_000_000 }],
    });
  });
  afterAll(() => telemetry.shutdown());

  it('are there at zero for whatever may come of a merchant', async () => {
    const samples = await scraped(telemetry);
    for (const merchant of ['shop', 'kiosk', '_other']) {
      for (const series of [
        `renewals_total{merchant="${merchant}",trigger="schedule",outcome="refused"}`,
        `renewals_total{merchant="${merchant}",trigger="rejection",outcome="success"}`,
        `rejections_total{merchant="${merchant}",result="cooled_down"}`,
        `rejections_total{merchant="${merchant}",result="budget_exhausted"}`,
        `handovers_total{merchant="${merchant}",outcome="limit"}`,
        `gateway_failures_total{merchant="${merchant}",kind="timeout",code="none"}`,
        `gateway_failures_total{merchant="${merchant}",kind="transient",code="unreached"}`,
        `reads_total{merchant="${merchant}",result="unavailable"}`,
        `late_results_total{merchant="${merchant}"}`,
        `budget_exhausted_total{merchant="${merchant}"}`,
      ]) {
        expect([series, samples.get(`session_broker_${series}`)]).toEqual([series, 0]);
      }
    }
    expect(samples.get('session_broker_leases_total{result="held"}')).toBe(0);
    expect(samples.get('session_broker_store_errors_total{operation="claim"}')).toBe(0);
    expect(samples.get('session_broker_config_reload_failures_total')).toBe(0);
  });

  it('stand beside what has been counted, when each certificate ends, and how long the store takes', async () => {
    metrics.noteStoreOperation('claim', 30);
    const samples = await scraped(telemetry);
    const certificate = 'session_broker_certificate_expiry_timestamp_seconds{setting="http.tls.certFile"}';
    expect(samples.get(certificate)).toBe(1_800_000_000);
    const bucket = 'session_broker_store_operation_duration_seconds_bucket{operation="claim",le="0.05"}';
    expect(samples.get(bucket)).toBe(1);
    expect(samples.get('session_broker_reads_total{merchant="shop",result="fresh"}')).toBe(3);
  });

  it('are 32 for a merchant, and none for those that share a label', async () => {
    const series = [...(await scraped(telemetry)).keys()];
    expect(series.filter((name) => name.includes('_total{merchant="shop"'))).toHaveLength(32);
    expect(series.filter((name) => name.includes('merchant="till"'))).toEqual([]);
  });

  it('leave the state of each merchant to a gauge, and the worst one to those that share a label', async () => {
    const samples = await scraped(telemetry);
    const stateOf = (merchant: string): readonly (readonly [string, number | undefined])[] =>
      merchantConditions.map((state) => [
        state,
        samples.get(`session_broker_merchant_state{merchant="${merchant}",state="${state}"}`),
      ]);
    for (const [merchant, of] of Object.entries({ shop: 'fresh', kiosk: 'failing', _other: 'dead' }))
      expect([merchant, stateOf(merchant)]).toEqual([
        merchant,
        merchantConditions.map((it) => [it, it === of ? 1 : 0]),
      ]);
  });

  it('begin for a merchant that comes with a changed configuration', async () => {
    merchants = ['shop', 'corner'];
    metrics.noteReload(true);
    const samples = await scraped(telemetry);
    expect(samples.get('session_broker_rejections_total{merchant="corner",result="renewed"}')).toBe(0);
    expect([...samples.keys()].filter((name) => /merchant_state.*"(?:kiosk|_other)"/.test(name))).toEqual([]);
  });

  it('tell a call that was not even connected from one that failed', async () => {
    const failed = { event: 'renewal_finished', merchant: 'shop', trigger: 'schedule', outcome: 'transient' } as const;
    for (const wasReached of [true, false]) {
      const failure = new GatewayFailure({ kind: 'transient', detail: '', wasReached });
      metrics.emit({ ...failed, durationMs: 1, generation: 1, failure });
    }
    const samples = await scraped(telemetry);
    const failures = 'session_broker_gateway_failures_total{merchant="shop",kind="transient",code=';
    expect([samples.get(`${failures}"none"}`), samples.get(`${failures}"unreached"}`)]).toEqual([1, 1]);
  });
});
