import { endedAfterAll, eventually, freePort } from '#libs/testing';
import { attributesOf, type CollectedSpan, Collector } from './collector.js';
import { ObservedBroker } from './observed-broker.js';

const REJECTION = 'POST /v1/merchants/:merchant/session/rejections';
const READ = 'GET /v1/merchants/:merchant/session';
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

describe('traces', () => {
  let collector: Collector;
  let broker: ObservedBroker;

  const started = endedAfterAll();
  beforeAll(async () => {
    collector = started.add(await Collector.start(), (it) => it.close());
    broker = started.add(await ObservedBroker.start(collector.environment), (it) => it.stop());
  });

  const only = async (name: string, matches: (span: CollectedSpan) => boolean = () => true): Promise<CollectedSpan> => {
    await eventually(() => collector.named(name).some(matches));
    const found = collector.named(name).filter(matches);
    expect(found).toHaveLength(1);
    return found[0]!;
  };
  const triggeredBy =
    (trigger: string) =>
    (span: CollectedSpan): boolean =>
      attributesOf(span)['session_broker.trigger'] === trigger;

  it('show a renewal as one span with its steps below it', async () => {
    await broker.session();
    const renewal = await only('renewal', triggeredBy('startup'));
    expect(attributesOf(renewal)).toMatchObject({
      'session_broker.merchant': 'shop',
      'session_broker.result': 'renewed',
    });
    expect(renewal.parentSpanId ?? '').toBe('');
    for (const step of ['claim', 'gateway_call', 'open', 'publish']) {
      const { traceId, parentSpanId } = await only(step, (span) => span.traceId === renewal.traceId);
      expect([traceId, parentSpanId]).toEqual([renewal.traceId, renewal.spanId]);
    }
  });

  it('link a renewal to the rejection that set it going, within the trace of the caller', async () => {
    const { generation } = await broker.session();
    await broker.reject(generation, { traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` });
    const request = await only(REJECTION);
    expect([request.traceId, request.parentSpanId]).toEqual([TRACE_ID, 'b7ad6b7169203331']);
    expect(attributesOf(request)).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/v1/merchants/:merchant/session/rejections',
    });
    const renewal = await only('renewal', triggeredBy('rejection'));
    expect(renewal.traceId).not.toBe(TRACE_ID);
    expect(renewal.links).toEqual([expect.objectContaining({ traceId: TRACE_ID, spanId: request.spanId })]);
  });

  it('have no span for a read, unless its caller records its trace', async () => {
    for (let count = 0; count < 20; count += 1) expect(await broker.read()).toBe(200);
    const unsampled = { traceparent: `00-${'1'.repeat(32)}-b7ad6b7169203331-00` };
    expect(await broker.read(unsampled)).toBe(200);
    const ours = 'a'.repeat(32);
    expect(await broker.read({ traceparent: `00-${ours}-b7ad6b7169203331-01` })).toBe(200);
    await only(READ, ({ traceId }) => traceId === ours);
    expect(collector.spans.filter(({ traceId }) => traceId === '1'.repeat(32))).toEqual([]);
  });

  it('are named in the log lines that are written within them', async () => {
    const renewal = collector.named('renewal').find(triggeredBy('rejection'));
    const line = broker.lines.find(({ msg, trigger }) => msg === 'session renewed' && trigger === 'rejection');
    expect(line?.['trace_id']).toBe(renewal?.traceId);
    const rejected = broker.lines.find(({ event }) => event === 'session_rejected');
    expect(rejected?.['trace_id']).toBe(TRACE_ID);
  });

  it('are pushed beside metrics, which are on the scrape as well', async () => {
    const pushed = (): Buffer[] => collector.bodies.filter((_body, index) => collector.paths[index] === '/v1/metrics');
    await eventually(() => pushed().some((body) => body.includes('session_broker_renewals')));
    expect(await broker.metrics()).toContain('session_broker_renewals_total{');
  });

  it('hold no secret, nor do the metrics', async () => {
    const seen = Buffer.concat(collector.bodies).toString('latin1') + (await broker.metrics());
    expect(broker.secrets.length).toBeGreaterThan(5);
    expect(broker.secrets.filter((secret) => seen.includes(secret))).toEqual([]);
  });
});

describe('the trace of an attempt that fails', () => {
  it('shows how far it came, and of the error no more than its name', async () => {
    const collector = await Collector.start();
    const faults = [{ kind: 'error', operation: 'authorize', times: 1, status: 503 }];
    const broker = await ObservedBroker.start(collector.environment, { faults });
    const failed = (span: CollectedSpan): boolean => attributesOf(span)['session_broker.result'] === 'failed';
    await eventually(() => collector.named('renewal').some(failed));
    const renewal = collector.named('renewal').find(failed);
    const steps = collector.spans.filter(({ parentSpanId }) => parentSpanId === renewal?.spanId);
    expect(renewal?.status.code).toBe(2);
    expect(steps.map(({ name }) => name)).toEqual(['claim', 'gateway_call', 'open']);
    expect(steps.at(-1)?.status).toEqual({ code: 2 });
    expect(attributesOf(steps.at(-1)!)).toEqual({ 'error.type': 'GatewayFailure' });
    await broker.stop();
    await collector.close();
  });
});

describe('without a word about exports', () => {
  it('nothing leaves the process, and no log line names a trace', async () => {
    const collector = await Collector.start();
    const broker = await ObservedBroker.start({ OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: '' });
    await broker.session({ traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01` });
    expect(broker.lines.some((line) => 'trace_id' in line)).toBe(false);
    expect(await broker.stop()).toBe(0);
    expect(collector.paths).toEqual([]);
    await collector.close();
  });
});

describe('a collector that is down', () => {
  it('is complained of once, and holds up neither reads nor the end', async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const broker = await ObservedBroker.start({
      OTEL_EXPORTER_OTLP_ENDPOINT: nobody,
      OTEL_BSP_SCHEDULE_DELAY: '20',
      OTEL_METRIC_EXPORT_INTERVAL: '100',
      OTEL_METRIC_EXPORT_TIMEOUT: '50',
    });
    const { generation } = await broker.session();
    await broker.reject(generation);
    for (let count = 0; count < 50; count += 1) expect(await broker.read()).toBe(200);
    const startedAt = performance.now();
    expect(await broker.stop()).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    const complaints = broker.lines.filter(({ library }) => library === 'opentelemetry');
    expect(new Set(complaints.map(({ msg }) => String(msg).slice(0, 60))).size).toBe(complaints.length);
  });
});
