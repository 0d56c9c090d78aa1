import { trace } from '@opentelemetry/api';
import { NodeSDK, type NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import { startRequestSpan, type TracedRequest } from './request-spans.js';

type SpanProcessor = NonNullable<NodeSDKConfiguration['spanProcessors']>[number];
type Ended = Parameters<SpanProcessor['onEnd']>[0];

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';
const REQUEST: TracedRequest = { method: 'POST', route: '/ecom/execute_request/**', headers: {} };

describe('the spans of a request that is passed on', () => {
  const ended: Ended[] = [];
  const noted: SpanProcessor = {
    onStart: () => undefined,
    onEnd: (span) => void ended.push(span),
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  const sdk = new NodeSDK({
    resourceDetectors: [],
    spanProcessors: [noted],
    metricReaders: [],
    logRecordProcessors: [],
  });

  beforeAll(() => sdk.start());
  beforeEach(() => ended.splice(0));
  afterAll(() => sdk.shutdown());

  const start = (headers: TracedRequest['headers']): ReturnType<typeof startRequestSpan> =>
    startRequestSpan(trace.getTracer('test'), { ...REQUEST, headers });

  it('send on that a trace is not recorded, and record nothing', () => {
    const request = start({ traceparent: `00-${TRACE_ID}-${CALLER}-00` });
    const call = request.call('POST');
    call.end(200);
    request.end(200);
    expect(call.headers['traceparent']).toMatch(new RegExp(`^00-${TRACE_ID}-[\\da-f]{16}-00$`));
    expect(ended).toEqual([]);
  });

  it('begin a trace where the caller has none', () => {
    const call = start({}).call('POST');
    expect(call.headers['traceparent']).toMatch(/^00-[\da-f]{32}-[\da-f]{16}-01$/);
  });

  it('have one call for each time that a request is sent, and say how each ended', () => {
    const request = start({});
    request.call('POST').end(401);
    request.call('POST').end(undefined);
    request.end(504, { 'session_egress.outcome': 'unknown' });
    expect(ended.map(({ name, attributes, status }) => [name, attributes, status.code])).toEqual([
      ['POST', { 'http.request.method': 'POST', 'http.response.status_code': 401 }, 2],
      ['POST', { 'http.request.method': 'POST' }, 2],
      [
        'POST /ecom/execute_request/**',
        {
          'http.request.method': 'POST',
          'http.route': '/ecom/execute_request/**',
          'http.response.status_code': 504,
          'session_egress.outcome': 'unknown',
        },
        2,
      ],
    ]);
  });
});
