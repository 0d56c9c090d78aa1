import { randomUUID } from 'node:crypto';
import { eventually } from '#libs/testing';
import { Collector } from '../observability/collector.js';
import { AliasCaller, type Caller, PlainCaller, ROUTES } from './callers.js';
import { EgressProcess } from './egress-process.js';
import { errorBody, good, HostileGateway, type Play, refusing } from './hostile-gateway.js';
import { PlayedBroker } from './played-broker.js';
import { exchange } from './raw-exchange.js';
import { aClient } from './running-egress.js';

/** Part of what a client sends and of what the bank answers, wherever that goes. */
const MARK_OF_A_BODY = `body-${randomUUID()}`;
const CARD = '4111111111111111';

const COOKIE = ['set-cookie: waf=secret-of-the-firewall'];
const saying = (status: number, body: string): Play => refusing(status, body, COOKIE);
const dying = (status: number, msgCode: string): Play => saying(status, errorBody(msgCode, MARK_OF_A_BODY));

/** Everything that may happen to a payment: each is reported by different code. */
const HAPPENINGS: readonly (readonly [string, readonly Play[]])[] = [
  ['it is paid', [good]],
  ['the session is dead', [dying(401, 'b_expired_token')]],
  ['the session is dead twice', [dying(401, 'b_used_token'), dying(200, 'b_unknown_device')]],
  ['the status alone says so', [saying(401, MARK_OF_A_BODY)]],
  ['it is refused', [dying(400, 'b_operation_not_found')]],
  ['a page is answered', [saying(403, `<html>${MARK_OF_A_BODY}</html>`)]],
  ['a JWE of a stranger is answered', [saying(200, `{"jwe":"${MARK_OF_A_BODY}.a.b.c.d"}`)]],
  ['it is sent elsewhere', [saying(302, MARK_OF_A_BODY)]],
  ['no HTTP is answered', [{ run: ({ socket }) => void socket.end(`${MARK_OF_A_BODY}\r\n\r\n`) }]],
  [
    'a broken header is answered',
    [{ run: ({ socket }) => void socket.end(`HTTP/1.1 200 OK\r\n${MARK_OF_A_BODY} x: y\r\n\r\n`) }],
  ],
  ['nothing is answered', [{ run: () => undefined }]],
  ['the connection breaks', [{ run: ({ socket }) => void socket.resetAndDestroy() }]],
  [
    'the answer breaks off',
    [{ run: ({ socket }) => void socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n${MARK_OF_A_BODY}`) }],
  ],
];

describe('what the egress says of payments', () => {
  let broker: PlayedBroker;
  let gateway: HostileGateway;
  let collector: Collector;
  let egress: EgressProcess;
  let callers: readonly Caller[];

  beforeAll(async () => {
    broker = await PlayedBroker.start();
    gateway = await HostileGateway.before(broker);
    collector = await Collector.start();
    const { environment } = collector;
    egress = await EgressProcess.start({ broker, gatewayUrl: gateway.url, environment });
    callers = egress.callers();
  });
  afterAll(async () => {
    await egress.stop();
    await gateway.close();
    await broker.close();
    await collector.close();
  });

  /** Log, audit, metrics and traces, as far as they have been written by now. */
  const everything = async (): Promise<string> =>
    [egress.printed, await egress.metrics(), ...collector.bodies.map((body) => body.toString('utf8'))].join('\n');

  it('a card number in clear in a member for card data is refused before anything is sent, and never told', async () => {
    for (const caller of callers)
      for (const route of ROUTES) {
        await gateway.script();
        const given = await caller.pay(route, { encryptedExpDate: `${CARD}....` });
        expect([given.status, given.code]).toEqual([422, 'card_number_in_clear']);
        expect([gateway.seen, gateway.connections]).toEqual([[], 0]);
        expect(digitsIn(JSON.stringify([given.rawHeaders, given.text]))).not.toContain(CARD);
      }
  });

  it('a card number in another member passes, and is counted', async () => {
    await gateway.script();
    for (const route of ROUTES) expect((await callers[0]?.pay(route, { comment: CARD }))?.status).toBe(200);
    expect(await egress.metrics()).toMatch(/^session_egress_seeming_cards_total\{[^}]*route="[^"]*hpp[^}]*\} 1$/m);
    await eventually(() => egress.printed.includes('seems to hold a card number'));
  });

  it('nothing of a secret, a body or a card number, whatever happens to a payment', async () => {
    const secrets = new Set([MARK_OF_A_BODY, 'secret-of-the-firewall', broker.token, ...egress.secrets]);
    for (const [, plays] of HAPPENINGS)
      for (const caller of callers)
        for (const route of ROUTES) {
          await gateway.script(...plays);
          await caller.pay(route, { merchantComment: MARK_OF_A_BODY }, { headers: ['x-note', MARK_OF_A_BODY] });
        }
    for (const secret of await presentedByStrangers(egress.url)) secrets.add(secret);
    broker.opens = false;
    for (const caller of callers) await caller.pay('sealed', {});
    for (const caller of callers) for (const secret of caller.secrets) secrets.add(secret);
    for (const { authToken, deviceId, refreshToken } of broker.sessions)
      for (const secret of [authToken, deviceId, refreshToken]) secrets.add(secret);
    await eventually(() => collector.spans.length > 0 && collector.paths.includes('/v1/metrics'));
    const said = await everything();
    expect([...secrets].filter((secret) => said.includes(secret))).toEqual([]);
    expect(said).not.toMatch(/eyJ[\w-]{10,}\./);
    expect(digitsIn(said.replace(/[^\d\n -]/g, ' '))).not.toContain(CARD);
    expect(digitsIn(said)).not.toContain(CARD);
  });

  it('what happened nonetheless: each request is in the log or the audit', async () => {
    const said = await everything();
    for (const code of [
      'card_number_in_clear',
      'answer_late',
      'answer_lost',
      'answer_unusable',
      'answer_unopened',
      'unauthenticated',
    ])
      expect(said).toContain(code);
  });
});

/** Attempts by unknown callers. @returns what they presented */
async function presentedByStrangers(url: string): Promise<readonly string[]> {
  const token = `token-of-nobody-${randomUUID()}`;
  const alias = randomUUID();
  const [deviceId, refreshToken] = [randomUUID(), randomUUID()];
  await new PlainCaller(url, token).pay('sealed', {});
  await new AliasCaller(url, { serviceCode: alias, key: aClient().key }).create();
  const headers = ['x-device_id', deviceId, 'x-refresh_token', refreshToken, 'content-type', 'text/plain'];
  await exchange(url, { path: '/ecom/execute_request/payments/v3/refund', headers, body: 'body' });
  const inPath = randomUUID();
  await exchange(url, { path: `/elsewhere/${inPath}?serviceCode=${alias}`, headers });
  return [token, alias, deviceId, refreshToken, inPath];
}

/** Without what may separate the digits of a card number. */
function digitsIn(text: string): string {
  return text.replace(/(?<=\d)[ -](?=\d)/g, '');
}
