// What an instrumentation of fetch makes of the client's requests; with the argument `hook`, configured as
// docs/observability.md says.
const { trace } = require('@opentelemetry/api');
const { UndiciInstrumentation } = require('@opentelemetry/instrumentation-undici');
const { NodeSDK } = require('@opentelemetry/sdk-node');
const { SessionBroker } = require('@session-broker/client');
const { FakeBroker } = require('@session-broker/client/testing');

const ignoreRequestHook = ({ path }) => path.includes('/session/events');
const nobody = { onStart() {}, onEnd() {}, async forceFlush() {}, async shutdown() {} };

async function main() {
  const undici = new UndiciInstrumentation(process.argv[2] === 'hook' ? { ignoreRequestHook } : {});
  const none = { resourceDetectors: [], metricReaders: [], logRecordProcessors: [] };
  const sdk = new NodeSDK({ ...none, spanProcessors: [nobody], instrumentations: [undici] });
  sdk.start();
  const fake = await FakeBroker.start();
  const broker = new SessionBroker(fake.options);
  const traceId = await trace.getTracer('test').startActiveSpan('payment', async (span) => {
    await broker.session();
    while (fake.requests.every(({ route }) => route !== 'events'))
      await new Promise((resolve) => setTimeout(resolve, 10));
    return span.spanContext().traceId;
  });
  await broker.close();
  await fake.close();
  await sdk.shutdown();
  const isIn = (route) =>
    String(fake.requests.find((one) => one.route === route).headers.traceparent).includes(traceId);
  console.log(`read ${isIn('read')}, events ${isIn('events')}`);
}

main();
