import { generateClientKey, importPaymentKey, sealJwe } from '#libs/jwe';
import { endedAfterAll, TestIssuer } from '#libs/testing';
import { type Answer, call } from '../e2e/call.js';
import { EventStream } from '../e2e/event-stream.js';
import { RunningBroker, TOKENS } from '../e2e/running-broker.js';
import { expectAsSaid } from './as-said.js';
import { type Answer as Said, operations } from './contract.js';

/** Requests of one caller other than reads: one more is too many. */
const BURST = 40;
const ADMIN =
  "{ caller: admin, merchants: ['*'], allow: [session:reject, session:renew, payload:encrypt, payload:decrypt] }";
/** Nothing listens there: a caller with a token of this issuer cannot be authenticated. */
const JWT = `jwt: { issuer: '${TestIssuer.ISSUER}', audience: a, jwksUri: 'http://127.0.0.1:1/jwks' }`;

/** As the notification of a direct payment has it. */
const OPERATION = { type: 'REFUND', ecomOperationId: 'e-1', status: 'SUCCESS', coinAmount: 100, merchantId: 'm-1' };

interface Asked {
  readonly merchant?: string;
  readonly token?: string;
  readonly body?: object | string;
  readonly type?: string;
  readonly query?: string;
  readonly headers?: Record<string, string>;
}

describe('the answers of a broker', () => {
  let broker: RunningBroker;
  let etag: string;
  let bodies: Record<string, object>;
  let foreignJwe: string;

  const started = endedAfterAll();
  beforeAll(async () => {
    const http = `rateLimit: { perSecond: 1, burst: ${BURST} }`;
    broker = started.add(await RunningBroker.start({ http, auth: [`  - ${ADMIN}`, JWT] }), (it) => it.close());
    const session = await broker.get('/v1/merchants/shop/session', { prefer: 'wait=60' });
    etag = session.headers['etag'] ?? '';
    const { generation } = session.body;
    const sealedTo = async (jwk: object): Promise<string> => sealJwe(Buffer.from('{}'), await importPaymentKey(jwk));
    bodies = {
      rejectSession: { generation },
      readyForHandover: { generation, participant: 'checkout-1' },
      encryptPayload: { plaintext: '{}' },
      decryptPayload: { jwe: await sealedTo(broker.olderPublicJwk) },
      openNotification: { headers: {}, body: JSON.stringify(OPERATION) },
    };
    foreignJwe = await sealedTo((await generateClientKey()).publicJwk);
  });

  const refused: Record<string, () => Asked> = {
    400: () => ({ merchant: '%zz' }),
    401: () => ({ token: 'wrong' }),
    403: () => ({ merchant: 'hidden' }),
    404: () => ({ merchant: 'nobody', token: TOKENS.admin }),
    413: () => ({ body: { plaintext: 'x'.repeat(400_000) } }),
    414: () => ({ merchant: 'x'.repeat(101) }),
    415: () => ({ body: '<a/>', type: 'application/xml' }),
    422: () => ({ body: { jwe: foreignJwe } }),
    503: () => ({ token: new TestIssuer().token(Date.now()) }),
  };
  const special: Record<string, () => Asked> = {
    'getSession 200': () => ({ headers: { prefer: 'wait=1' } }),
    'renewSession 200': () => ({ token: TOKENS.oncall }),
    'renewSession 413': () => ({ token: TOKENS.oncall, body: { plaintext: 'x'.repeat(400_000) } }),
    'renewSession 415': () => ({ token: TOKENS.oncall, body: '<a/>', type: 'application/xml' }),
    'getSession 304': () => ({ headers: { 'if-none-match': etag } }),
    'getSession 400': () => ({ query: '?force=true' }),
    'getSessionHeaders 400': () => ({ query: '?force=true' }),
    'getSessionHeadersForEnvoy 400': () => ({ query: '?force=true' }),
    'rejectSession 400': () => ({ body: {} }),
    'readyForHandover 400': () => ({ body: {} }),
    'encryptPayload 400': () => ({ body: {} }),
    'decryptPayload 400': () => ({ body: {} }),
    'openNotification 400': () => ({ body: {} }),
    'openNotification 422': () => ({ body: { headers: {}, body: foreignJwe } }),
  };

  type Asking = Pick<(typeof operations)[number], 'path' | 'method' | 'operation'>;

  async function ask({ path, method, operation }: Asking, asked: Asked): Promise<Answer> {
    const { merchant = 'shop', token = TOKENS.payments, query = '', headers = {}, type = 'application/json' } = asked;
    const body = method === 'get' ? undefined : (asked.body ?? bodies[operation.operationId]);
    const own = { authorization: `Bearer ${token}`, ...(body && { 'content-type': type }), ...headers };
    const sent = { method: method.toUpperCase(), headers: own, body };
    return call(broker.url + path.replace('{merchant}', merchant) + query, sent);
  }

  async function tooMany(asking: Asking): Promise<Answer> {
    const token = asking.operation.operationId === 'renewSession' ? TOKENS.oncall : TOKENS.payments;
    const answers = Array.from({ length: 2 * BURST }, () => ask(asking, { token, body: {} }));
    const late = (await Promise.all(answers)).find(({ status }) => status === 429);
    return late ?? (await ask(asking, { token, body: {} }));
  }

  const isStream = (said: Said): boolean => 'text/event-stream' in (said.content ?? {});
  const cases = operations.flatMap((its) =>
    Object.entries(its.operation.responses).map(([status, said]) => ({ ...its, status, said })),
  );
  /** A caller that has asked too often gets no other answer for a while: those cases come last. */
  const plain = cases.filter(({ status, said }) => status !== '429' && !isStream(said));

  it.each(plain)('$name is answered $status as the contract says', async ({ status, said, ...its }) => {
    const asked = special[`${its.operation.operationId} ${status}`] ?? refused[status] ?? ((): Asked => ({}));
    const { headers, body, status: got } = await ask(its, asked());
    expect(String(got)).toBe(status);
    expectAsSaid(said, { headers, body });
  });

  /** Who of those that have no more than one permission each, and of `payments`, which has all but one, is let in. */
  const readers = ['checkout', 'payments'];
  const allowed: Record<string, readonly string[]> = {
    rejectSession: ['payments'],
    renewSession: ['oncall'],
    encryptPayload: ['reporting', 'payments'],
    decryptPayload: ['payments'],
    openNotification: ['payments'],
  };

  it.each(operations.filter(({ path }) => path.includes('{merchant}')))(
    '$name is for callers with its permission for this merchant, and for nobody else',
    async ({ method, path, operation }) => {
      const statusFor = async (token: string, merchant: string): Promise<number> => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const body = method === 'get' ? {} : { body: operation.operationId === 'renewSession' ? '' : '{}' };
        const gone = new AbortController();
        const asked = { method: method.toUpperCase(), headers, signal: gone.signal, ...body };
        const { status } = await fetch(broker.url + path.replace('{merchant}', merchant), asked);
        gone.abort();
        return status;
      };
      const letIn: string[] = [];
      for (const caller of ['checkout', 'reporting', 'oncall', 'payments'] as const) {
        if ((await statusFor(TOKENS[caller], 'shop')) !== 403) letIn.push(caller);
        expect(await statusFor(TOKENS[caller], 'hidden')).toBe(403);
      }
      expect(letIn).toEqual(allowed[operation.operationId] ?? readers);
    },
  );

  it.each(cases.filter(({ said }) => isStream(said)))(
    '$name streams what the contract says',
    async ({ path, said }) => {
      const url = broker.url + path.replace('{merchant}', 'shop');
      const stream = await EventStream.open(url, { authorization: `Bearer ${TOKENS.payments}` });
      const { id = '', session = {} } = (await stream.next()) ?? {};
      stream.vanish();
      expectAsSaid(said, {
        headers: Object.fromEntries(stream.response.headers),
        body: [{ event: 'session', id: Number(id), data: session }],
      });
    },
  );

  it.each(cases.filter(({ status }) => status === '429'))('$name is answered 429 as said', async (its) => {
    const { headers, body, status } = await tooMany(its);
    expect(status).toBe(429);
    expectAsSaid(its.said, { headers, body });
  });
});
