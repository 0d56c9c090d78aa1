import { context, propagation, trace } from '@opentelemetry/api';
import { NodeSDK, type NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import { endedAfterAll, eventually } from '../../testing/src/index.js';
import { SessionBroker } from './session-broker.js';
import { FakeBroker } from './testing/fake-broker.js';

/** With any span processor at all, spans have a context that is recorded. */
type SpanProcessor = NonNullable<NodeSDKConfiguration['spanProcessors']>[number];
const anybody: SpanProcessor = {
  onStart: () => undefined,
  onEnd: () => undefined,
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};

/** As the manual shows it. */
function traceHeaders(): Record<string, string> {
  const headers: Record<string, string> = {};
  propagation.inject(context.active(), headers);
  return headers;
}

describe('with OpenTelemetry, the real one', () => {
  let fake: FakeBroker;
  let broker: SessionBroker;

  const started = endedAfterAll();
  beforeAll(async () => {
    const sdk = started.add(
      new NodeSDK({
        resourceDetectors: [],
        spanProcessors: [anybody],
        metricReaders: [],
        logRecordProcessors: [],
      }),
      (it) => it.shutdown(),
    );
    sdk.start();
    fake = started.add(await FakeBroker.start(), (it) => it.close());
    broker = started.add(new SessionBroker({ ...fake.options, traceHeaders }), (it) => it.close());
  });

  const parentOf = (route: string): unknown =>
    fake.requests.find((request) => request.route === route)?.headers['traceparent'];

  it('a request is in the trace of whoever waits for it, and the event stream in nobody’s', async () => {
    const ids = await trace.getTracer('test').startActiveSpan('payment', async (span) => {
      await broker.withSession(({ generation }) => {
        if (generation === 1) throw Object.assign(new Error('dead'), { msgCode: 'b_used_token' });
      });
      span.end();
      return span.spanContext();
    });
    await eventually(() => fake.counts.events > 0);
    const expected = `00-${ids.traceId}-${ids.spanId}-01`;
    expect(parentOf('read')).toBe(expected);
    expect(parentOf('rejections')).toBe(expected);
    expect(parentOf('events')).toBeUndefined();
  });
});
