import { generateClientKey, importPaymentKey, sealJwe } from '#libs/jwe';
import { endedAfterAll, eventually, freePort } from '#libs/testing';
import { attributesOf, type CollectedSpan, Collector } from './collector.js';
import { type Replica, type ReplicaWish, serviceCodeOf, TOKEN, WatchedReplicas } from './watched-replicas.js';

const REJECTION = 'POST /v1/merchants/:merchant/session/rejections';
const READ = 'GET /v1/merchants/:merchant/session';
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const MARKER = 'marker-b41d';
const PAGE = `<!DOCTYPE html><html><head><title>${MARKER}</title></head><body>Support ID: ${MARKER}</body></html>`;

/** A broker as a separate process with its own environment, and all that must not show up of it. */
class ObservedBroker {
  /** Sessions that it has handed out: to reads, and in place of one that was rejected. */
  reads = 0;
  /** What must not show up anywhere. */
  readonly secrets: string[];
  readonly #broker: Replica;

  private constructor(private readonly watched: WatchedReplicas) {
    [this.#broker] = watched.replicas as [Replica];
    this.secrets = [TOKEN, serviceCodeOf(0), ...watched.privateJwks.map(({ d }) => String(d))];
  }

  static async start(
    environment: Record<string, string> = {},
    { sections = {}, ...wish }: ReplicaWish & { readonly faults?: readonly object[] } = {},
  ): Promise<ObservedBroker> {
    const shop = { id: 'shop', lifetimeMs: 3_600_000, timeout: '60s' };
    const talkative = { environment, sections: { log: { level: 'debug' }, ...sections }, ...wish };
    return new ObservedBroker(await WatchedReplicas.alone([shop], talkative));
  }

  get lines(): Record<string, unknown>[] {
    const lines = this.#broker.process.out.trim().split('\n');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** A session that was handed out counts as a secret from then on. */
  async session(headers: Record<string, string> = {}): Promise<{ generation: number }> {
    return this.#note(await this.watched.ask('shop', '/session', { headers: { prefer: 'wait=10', ...headers } }));
  }

  async reject(generation: number, headers: Record<string, string> = {}): Promise<{ generation: number }> {
    const body = JSON.stringify({ generation, reason: 'b_expired_token' });
    return this.#note(await this.watched.ask('shop', '/session/rejections', { method: 'POST', body, headers }));
  }

  /** @returns the status of a POST to a path below the merchant */
  async post(path: string, body: object): Promise<number> {
    return (await this.watched.ask('shop', path, { method: 'POST', body: JSON.stringify(body) })).status;
  }

  /** A plain read, as consumers do all day. @returns the status */
  async read(headers: Record<string, string> = {}): Promise<number> {
    const answer = await this.watched.ask('shop', '/session', { headers });
    if (answer.ok) this.reads += 1;
    await answer.arrayBuffer();
    return answer.status;
  }

  /** @returns the text of a path of its management port */
  async shown(path: string, accept = '*/*'): Promise<string> {
    return (await fetch(`http://${this.#broker.management}${path}`, { headers: { accept } })).text();
  }

  /** @returns the exit code */
  async stop(): Promise<number | null> {
    this.#broker.process.signal('SIGTERM');
    const code = await this.#broker.process.ended;
    await this.watched.stop();
    return code;
  }

  async #note(response: Response): Promise<{ generation: number }> {
    const session = (await response.json()) as { generation: number; authToken: string; deviceId: string };
    if (!response.ok) return session;
    this.reads += 1;
    this.secrets.push(session.authToken, session.deviceId);
    return session;
  }
}

describe('the audit records of a broker', () => {
  let broker: ObservedBroker;

  const started = endedAfterAll();
  beforeAll(async () => {
    broker = await ObservedBroker.start({}, { sections: { audit: { readEvery: 10 } } });
    started.add(broker, (it) => it.stop());
  });

  const records = (): Record<string, unknown>[] => broker.lines.filter(({ stream }) => stream === 'audit');
  const of = (action: string): Record<string, unknown>[] => records().filter((record) => record['action'] === action);

  it('say in full who rejected what, and who was refused', async () => {
    const { generation } = await broker.session();
    await broker.reject(generation, { 'x-request-id': 'rejection-1' });
    await broker.read({ authorization: 'Bearer wrong' });
    await eventually(() => of('GET /v1/merchants/:merchant/session').length === 1);
    expect(of('session.reject')).toEqual([
      expect.objectContaining({
        outcome: 'allowed',
        caller: 'all',
        merchant: 'shop',
        generation,
        reason: 'b_expired_token',
        requestId: 'rejection-1',
      }),
    ]);
    expect(of('GET /v1/merchants/:merchant/session')).toEqual([
      expect.objectContaining({ outcome: 'refused', merchant: 'shop', reason: 'unauthenticated' }),
    ]);
  });

  it('say who wanted a newer session, and which one it is', async () => {
    expect(await broker.post('/session/renewal', {})).toBe(200);
    await eventually(() => of('session.renew').length === 1);
    const { generation } = await broker.session();
    const who = { outcome: 'allowed', caller: 'all', merchant: 'shop' };
    expect(of('session.renew')).toEqual([expect.objectContaining({ ...who, generation })]);
  });

  it('say which payload was not opened and which notification', async () => {
    const { publicJwk } = await generateClientKey();
    const jwe = await sealJwe(Buffer.from('{}'), await importPaymentKey(publicJwk), { maxBytes: 100 });
    expect(await broker.post('/payloads/decrypt', { jwe })).toBe(422);
    expect(await broker.post('/notifications/open', { headers: {}, body: jwe })).toBe(422);
    await eventually(() => of('notification.open').length === 1);
    const who = { outcome: 'refused', caller: 'all', merchant: 'shop' };
    const notOpened = { ...who, reason: 'jwe_not_opened', requestId: expect.any(String) as string };
    expect(of('payload.decrypt')).toEqual([expect.objectContaining(notOpened)]);
    expect(of('notification.open')).toEqual([expect.objectContaining(notOpened)]);
  });

  it('begin with the configuration, are numbered without a gap, and hold no secret', () => {
    const all = records();
    expect(all[0]).toMatchObject({ action: 'configuration.load', sequence: 1, version: 1 });
    expect(all.map(({ sequence }) => sequence)).toEqual(all.map((_record, index) => index + 1));
    const text = JSON.stringify(all);
    expect(broker.secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });

  it('account for every read, once the broker has ended', async () => {
    for (let count = 0; count < 6; count += 1) await broker.read();
    expect(await broker.stop()).toBe(0);
    const counts = of('session.read').map(({ count = 1 }) => Number(count));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(broker.reads);
  });
});

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

  it('are led to from the time that a renewal took', async () => {
    const { traceId, spanId } = await only('renewal', triggeredBy('startup'));
    const scrape = await broker.shown('/metrics', 'application/openmetrics-text; version=1.0.0');
    const exemplar = `# {trace_id="${traceId}",span_id="${spanId}"}`;
    expect(scrape.split('\n').filter((line) => line.includes(exemplar))).toEqual([
      expect.stringMatching(/^session_broker_renewal_duration_seconds_bucket\{merchant="shop",/),
    ]);
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
    expect(await broker.shown('/metrics')).toContain('session_broker_renewals_total{');
  });

  it('hold no secret, nor do the metrics', async () => {
    const seen = Buffer.concat(collector.bodies).toString('latin1') + (await broker.shown('/metrics'));
    expect(broker.secrets.length).toBeGreaterThan(5);
    expect(broker.secrets.filter((secret) => seen.includes(secret))).toEqual([]);
  });
});

describe('a page of HTML in place of an answer', () => {
  let collector: Collector;
  let broker: ObservedBroker;

  const started = endedAfterAll();
  beforeAll(async () => {
    collector = started.add(await Collector.start(), (it) => it.close());
    const fault = { kind: 'garbage_body', operation: 'authorize', text: PAGE };
    broker = started.add(await ObservedBroker.start(collector.environment, { faults: [fault] }), (it) => it.stop());
  });

  it('is reported as HTML, and nothing of it is in log, metrics, traces, page and answers', async () => {
    await eventually(async () => /gateway_failures_total\{[^}]*code="html_page"/.test(await broker.shown('/metrics')));
    const failed = broker.lines.find(({ msg }) => String(msg).startsWith('renewal failed'));
    expect(failed).toMatchObject({ instead: 'html_page', httpStatus: 200, detail: expect.stringContaining('HTML') });
    const page: unknown = JSON.parse(await broker.shown('/status.json'));
    expect(JSON.stringify(page)).toContain('html_page');
    expect(await broker.read()).toBe(503);
    const seen = [
      broker.lines,
      page,
      collector.spans,
      await broker.shown('/metrics'),
      await broker.session({ prefer: '' }),
    ];
    expect(JSON.stringify(seen)).not.toContain(MARKER);
    expect(JSON.stringify(seen)).not.toContain('Support ID');
  });

  it('ends its trace where it came, with no more of the error than its name', async () => {
    const failed = (span: CollectedSpan): boolean => attributesOf(span)['session_broker.result'] === 'failed';
    await eventually(() => collector.named('renewal').some(failed));
    const renewal = collector.named('renewal').find(failed);
    const steps = collector.spans.filter(({ parentSpanId }) => parentSpanId === renewal?.spanId);
    expect(renewal?.status.code).toBe(2);
    expect(steps.map(({ name }) => name)).toEqual(['claim', 'gateway_call', 'open']);
    expect(steps.at(-1)?.status).toEqual({ code: 2 });
    expect(attributesOf(steps.at(-1)!)).toEqual({ 'error.type': 'GatewayFailure' });
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
    expect(await broker.stop()).toBe(0);
    const complaints = broker.lines.filter(({ library }) => library === 'opentelemetry');
    expect(new Set(complaints.map(({ msg }) => String(msg).slice(0, 60))).size).toBe(complaints.length);
  });
});
