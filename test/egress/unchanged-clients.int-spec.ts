import { randomUUID } from 'node:crypto';
import { eventually } from '#libs/testing';
import {
  CREATE_PURCHASE,
  EXECUTE_PURCHASE,
  ledgerOf,
  ORDER_OPERATIONS,
  REFUND,
  sealedCard,
} from '../sandbox/payment-desk.js';
import { DATE, orderRequest, purchaseRequest, refundRequest } from '../sandbox/order-request.js';
import { openCompact, sealCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { readPublicKey } from '../../apps/sandbox/src/crypto/ec-key.js';
import { CREATE, type Members, PATHS, type Route } from './callers.js';
import { RawConnection } from './raw-exchange.js';
import { EgressStage } from './egress-stage.js';
import type { RunningEgress } from './running-egress.js';

describe('a client that is pointed at the egress', () => {
  let stage: EgressStage;
  let egress: RunningEgress;

  beforeAll(async () => {
    // A doubled payment shows up in the ledger as such, instead of the second one being refused.
    stage = await EgressStage.start({ duplicates: 'accepted' });
    egress = stage.egress;
  });
  beforeEach(async () => {
    await fetch(`${stage.sandboxUrl}/_sandbox/ledger`, { method: 'DELETE' });
  });
  afterAll(() => stage.close());

  const paidOrder = async (order: Members): Promise<void> => {
    await stage.control('POST', `/orders/${String(order['hppOrderId'])}/pay`, {});
  };

  it.each(['plain', 'alias'] as const)(
    'of the %s form does every operation, in JSON, without a create call at the bank',
    async (form) => {
      const caller = egress[form]();
      const ask = async (route: Route, path: string, members: Members): Promise<Members> => {
        const { status, text } = await caller.pay(route, members, { path });
        expect([status, text]).toEqual([200, expect.not.stringContaining('msgCode')]);
        return JSON.parse(text) as Members;
      };
      const order = JSON.parse((await caller.pay('clear', orderRequest())).text) as Members;
      await paidOrder(order);
      const { operations } = await ask('clear', ORDER_OPERATIONS, { hppOrderId: order['hppOrderId'] });
      const [paid] = operations as readonly Members[];
      expect(await ask('sealed', REFUND, refundRequest(paid?.['operationId']))).toMatchObject({
        type: 'REFUND',
        status: 'PENDING',
      });
      const first = await ask('sealed', CREATE_PURCHASE, purchaseRequest(await sealedCard(stage.sandboxUrl)));
      expect(first).toMatchObject({ type: 'PURCHASE', status: 'PENDING' });
      const second = {
        operationId: first['operationId'],
        encryptedCardData: await sealedCard(stage.sandboxUrl, '2503111'),
        date: DATE,
      };
      expect(await ask('sealed', EXECUTE_PURCHASE, second)).toMatchObject({ status: 'SUCCESS' });
      const { totals } = await ledgerOf(stage.sandboxUrl);
      expect(totals).toMatchObject({ payments: 4, accepted: 4, refused: 0, repeated: 0, doubled: 0, unanswered: 0 });
      expect(await stage.createCalls()).toBe(1);
    },
  );

  describe('as published clients and plug-ins are seen on the wire', () => {
    interface Shape {
      /** Of a payment on this route. */
      readonly route: Route;
      /** Before each path. */
      readonly prefix?: string;
      readonly version?: 'HTTP/1.0' | 'HTTP/1.1';
      readonly create?: readonly string[];
      /** How it writes names of headers. */
      readonly name?: (underscored: string) => string;
      /** Of a payment, in place of the usual ones. */
      readonly headers?: Readonly<Record<string, string>>;
      /** Behind each path. */
      readonly query?: (body: string) => string;
      readonly body?: (body: string) => string;
    }
    const copied = (body: string): string =>
      `?${new URLSearchParams(JSON.parse(body) as Record<string, string>).toString()}`;
    const shapes: Readonly<Record<string, Shape>> = {
      'with no x-api_version in its create call': { route: 'sealed', create: [] },
      'with session headers, empty or old, in its create call': {
        route: 'sealed',
        create: ['x-api_version: V1', 'x-device_id: ', `x-refresh_token: ${randomUUID()}`],
      },
      'with its bodies, of six thousand octets and more, copied into the query': {
        route: 'clear',
        query: (body) => `${copied(body)}&${'purpose='.padEnd(6_000, 'x')}`,
      },
      'with a base URL that ends in a slash': { route: 'sealed', prefix: '/' },
      'with a sealed body quoted as a JSON string': { route: 'sealed', body: (sealed) => JSON.stringify(sealed) },
      'with a sealed body as plain/text, under v1': {
        route: 'sealed',
        headers: { 'content-type': 'plain/text', 'x-api_version': 'v1' },
      },
      'with the device of its former session too, in the other spelling': {
        route: 'sealed',
        name: (name) => name.replace('x-device_id', 'x-device-id'),
        headers: { 'X-Device_Id': randomUUID() },
      },
      'with hyphens in the names of headers': { route: 'sealed', name: (name) => name.replace('_', '-') },
      'in HTTP/1.0': { route: 'sealed', version: 'HTTP/1.0' },
    };
    /** One request as it is written, on a connection of its own, and the JSON of its answer. */
    const told = async (lines: readonly string[], body: string): Promise<Members> => {
      const connection = await RawConnection.to(egress.url);
      const head = ['host: egress', 'connection: close', `content-length: ${Buffer.byteLength(body)}`];
      connection.write([...lines, ...head, '', body].join('\r\n'));
      await eventually(() => connection.isClosed);
      return JSON.parse(connection.received.slice(connection.received.indexOf('{'))) as Members;
    };

    it.each(Object.entries(shapes))('pays %s', async (_name, shape) => {
      const { prefix = '', version = 'HTTP/1.1', create = ['x-api_version: v1'], name = String } = shape;
      const { serviceCode, key } = egress.client();
      const opened = ({ jwe }: Members): Members => JSON.parse(openCompact(String(jwe), key).toString()) as Members;
      const post = (path: string, text: string): string =>
        `POST ${prefix}${path}${shape.query?.(text) ?? ''} ${version}`;
      const asked = JSON.stringify({ serviceCode });
      const session = opened(await told([post(CREATE, asked), ...create, 'content-type: application/json'], asked));
      const content = JSON.stringify(
        shape.route === 'clear' ? orderRequest() : purchaseRequest(await sealedCard(stage.sandboxUrl)),
      );
      const sealed = sealCompact(content, readPublicKey(session['serverPublic']));
      const [path, plain, type] =
        shape.route === 'clear' ? [PATHS.clear, content, 'application/json'] : [CREATE_PURCHASE, sealed, 'text/plain'];
      const body = shape.body?.(plain) ?? plain;
      const headers = {
        'x-api_version': 'V1',
        'x-device_id': session['deviceId'],
        'x-refresh_token': session['refreshToken'],
        'content-type': type,
        ...shape.headers,
      };
      const presented = Object.entries(headers).map(([header, value]) => `${name(header)}: ${String(value)}`);
      const answer = await told([post(path, plain), ...presented], body);
      expect(shape.route === 'clear' ? answer : opened(answer)).toMatchObject({ merchantId: 'terminal-1' });
    });
  });

  it('is paid once after a dead session: its payment is repeated with the same merchantRequestId', async () => {
    const calls = await stage.createCalls();
    await stage.control('DELETE', '/sessions?merchant=shop&msgCode=b_session_doesnt_exists');
    const paid = Array.from({ length: 40 }, (_, index) => egress[index % 2 === 0 ? 'plain' : 'alias']());
    const answers = await Promise.all(paid.map((caller) => caller.pay('clear', orderRequest())));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const { payments, totals } = await ledgerOf(stage.sandboxUrl);
    expect(totals).toMatchObject({ payments: 40, accepted: 40, doubled: 0 });
    expect(Math.max(...payments.map(({ requests }) => Number(requests)))).toBeLessThanOrEqual(2);
    expect(await stage.createCalls()).toBe(calls + 1);
  });
});
