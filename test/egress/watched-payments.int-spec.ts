import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, startTelemetry } from '#libs/telemetry';
import { eventually, FakeClock } from '#libs/testing';
import { attributesOf, Collector } from '../observability/collector.js';
import type { Answer, CallerRequest, Members } from './callers.js';
import { errorBody, type HostileGateway, type Play, refusing } from './hostile-gateway.js';
import { PlayedStage } from './played-stage.js';
import { exchange, RawConnection } from './raw-exchange.js';
import type { RunningEgress } from './running-egress.js';

const CLEAR = '/ecom/execute_request/hpp/**';
const SEALED = '/ecom/execute_request/**';
const PAYMENT: Members = { merchantRequestId: 'secret-of-the-body', coinAmount: 12_500 };
const TIMEOUT_MS = 3_000;
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const lost: Play = { run: ({ socket }) => void socket.resetAndDestroy() };
const dead = refusing(401, errorBody('b_expired_token'));

describe('an egress that is watched', () => {
  let collector: Collector;
  let stage: PlayedStage;
  let gateway: HostileGateway;
  let egress: RunningEgress;
  let folder: string;
  /** It stands, so that no time-out is met by chance. */
  const clock = new FakeClock(new Date().toISOString());
  const environment = process.env;

  beforeAll(async () => {
    collector = await Collector.start();
    process.env = { ...environment, ...collector.environment };
    folder = await mkdtemp(join(tmpdir(), 'egress-watched-'));
    const logger = createLogger({ name: 'egress', level: 'error' });
    const telemetry = await startTelemetry({
      serviceName: 'session-egress',
      serviceVersion: '1',
      logger,
      environment: process.env,
    });
    const audit = join(folder, 'audit.jsonl');
    const connections = { max: 40, perAddress: 30 };
    stage = await PlayedStage.start({ timeoutMs: TIMEOUT_MS, clock, telemetry, audit, connections });
    ({ gateway, egress } = stage);
  });
  afterAll(async () => {
    const passing = setInterval(() => void clock.advance(1_000), 10);
    await stage.close();
    clearInterval(passing);
    await collector.close();
    await rm(folder, { recursive: true });
    process.env = environment;
  });

  const pay = (members: Members = PAYMENT, request: CallerRequest = {}): Promise<Answer> =>
    egress.plain().pay('clear', members, request);
  const records = async (): Promise<Record<string, unknown>[]> =>
    (await readFile(join(folder, 'audit.jsonl'), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const last = async (): Promise<Record<string, unknown> | undefined> => (await records()).at(-1);
  const count = async (labels: string): Promise<number> => {
    const line = (await egress.metrics()).split('\n').find((each) => each.startsWith(`${labels} `));
    return Number(line?.split(' ').at(-1) ?? 0);
  };
  const requests = (route: string, form: string, outcome: string): Promise<number> =>
    count(
      `session_egress_requests_total{client="shop",merchant="shop",route="${route}",form="${form}",outcome="${outcome}"}`,
    );

  it('records what was read, then each payment, and shows the session that it holds, and that newer ones come by themselves', async () => {
    await pay();
    expect(await records()).toMatchObject([
      { stream: 'audit', sequence: 1, action: 'configuration.load', count: 1 },
      { sequence: 2, action: 'payment.send', result: 'answered' },
    ]);
    await eventually(async () => (await count('session_egress_following{merchant="shop"}')) === 1);
    expect(await count('session_egress_session_generation{merchant="shop"}')).toBe(1);
    expect(await count('session_egress_session_expiry_timestamp_seconds{merchant="shop"}')).toBeGreaterThan(1e9);
    expect(await count('session_egress_in_flight')).toBe(0);
  });

  it('counts and records what was answered, in either form', async () => {
    await egress.alias().pay('sealed', PAYMENT);
    expect(await requests(SEALED, 'alias', 'answered')).toBe(1);
    expect(await count('session_egress_alias_sessions_total{client="shop",result="given"}')).toBe(1);
    expect((await records()).slice(-2)).toMatchObject([
      { action: 'alias_session.create', caller: 'shop', merchant: 'shop', outcome: 'allowed' },
      {
        ...{ action: 'payment.send', caller: 'shop', merchant: 'shop', route: SEALED, generation: 1 },
        ...{ result: 'answered', status: 200, outcome: 'allowed', requestId: expect.any(String) },
      },
    ]);
  });

  it('counts and records a payment whose fate nobody knows, by the request id that its client was given', async () => {
    await gateway.script(lost);
    const { status, headers } = await pay();
    expect(status).toBe(502);
    expect(await requests(CLEAR, 'plain', 'unknown')).toBe(1);
    expect(await last()).toMatchObject({
      action: 'payment.send',
      result: 'unknown',
      status: 502,
      requestId: headers['x-request-id'],
    });
  });

  it('counts a dead session, its code, and that the request was repeated', async () => {
    await gateway.script(dead);
    expect((await pay()).status).toBe(200);
    expect(await count('session_egress_dead_sessions_total{merchant="shop",code="b_expired_token"}')).toBe(1);
    expect(await count('session_egress_repeats_total{merchant="shop"}')).toBe(1);
    expect(await last()).toMatchObject({ result: 'answered', generation: 2 });
  });

  it.each([
    ['before it is answered', { run: () => undefined } satisfies Play],
    [
      'in the middle of a long answer',
      {
        run: ({ socket }) => {
          socket.write('HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 60000\r\n\r\nbeginning');
        },
      } satisfies Play,
    ],
  ])('counts a client that went away %s, once', async (when, play) => {
    const before = await requests(CLEAR, 'plain', 'client_gone');
    const unknown = await requests(CLEAR, 'plain', 'unknown');
    const leaving = new AbortController();
    await gateway.script({
      run: (part) => {
        play.run(part);
        setTimeout(() => leaving.abort(), 100);
      },
    });
    await pay(PAYMENT, { signal: leaving.signal });
    const isSilent = when === 'before it is answered';
    // A request that was sent and never answered is unknown, whoever still waits for it.
    const counted = (): Promise<number> => requests(CLEAR, 'plain', isSilent ? 'unknown' : 'client_gone');
    await eventually(async () => {
      if (isSilent) await clock.advance(TIMEOUT_MS);
      return (await counted()) === (isSilent ? unknown : before) + 1;
    });
    expect(await requests(CLEAR, 'plain', 'failed')).toBe(0);
    expect(gateway.seen).toHaveLength(1);
  });

  it('records credentials that were refused, in either form, and a create call with an alias that nobody has', async () => {
    const body = '{}';
    await exchange(egress.url, { path: '/ecom/execute_request/hpp/x', headers: ['authorization', 'Bearer no'], body });
    expect(await last()).toMatchObject({ action: 'payment.send', outcome: 'refused', reason: 'unauthenticated' });
    const path = '/api-gateway/authorize_virtual_device';
    const nobody = JSON.stringify({ serviceCode: '137d9304-0368-11ed-b939-0242ac120002' });
    await exchange(egress.url, { path, headers: ['content-type', 'application/json'], body: nobody });
    expect(await last()).toMatchObject({ action: 'alias_session.create', outcome: 'refused' });
    const facts = 'client="_unknown",merchant="_unknown",route="_create",form="alias",outcome="refused"';
    expect(await count(`session_egress_requests_total{${facts}}`)).toBe(1);
    expect(await count('session_egress_alias_sessions_total{client="_unknown",result="refused"}')).toBe(1);
  });

  it('counts the connections that it refuses', async () => {
    const opened: RawConnection[] = [];
    for (let count = 0; count < 31; count += 1) opened.push(await RawConnection.to(egress.url));
    await eventually(() => opened.some(({ isClosed }) => isClosed));
    for (const connection of opened) connection.vanish();
    const ended = 'session_egress_ended_connections_total';
    expect(await count(`${ended}{port="api",reason="address"}`)).toBeGreaterThan(0);
    expect(await egress.metrics()).toContain(`${ended}{port="management",reason="unread"} 0`);
  });

  it('sends the trace of its client on, with a span for each sending below the span of the request', async () => {
    await gateway.script(dead);
    await pay(PAYMENT, { headers: ['traceparent', `00-${TRACE_ID}-b7ad6b7169203331-01`, 'tracestate', 'v=1'] });
    const ours = (name: string): ReturnType<Collector['named']> =>
      collector.named(name).filter(({ traceId }) => traceId === TRACE_ID);
    await eventually(() => ours(`POST ${CLEAR}`).length === 1 && ours('POST').length === 2);
    const [request] = ours(`POST ${CLEAR}`);
    expect(attributesOf(request!)).toMatchObject({
      'http.route': CLEAR,
      'session_egress.client': 'shop',
      'session_egress.merchant': 'shop',
      'session_egress.outcome': 'answered',
    });
    expect(ours('POST').map(({ parentSpanId }) => parentSpanId)).toEqual([request?.spanId, request?.spanId]);
    expect(gateway.seen.map((seen) => seen.valuesOf('traceparent'))).toEqual(
      ours('POST').map(({ spanId }) => [`00-${TRACE_ID}-${spanId}-01`]),
    );
    expect(gateway.seen.map((seen) => seen.valuesOf('tracestate'))).toEqual([['v=1'], ['v=1']]);
  });
});
