/** A broker, real or fake, that serves the merchant `shop` to the holder of a token. */
export interface AskedBroker {
  readonly url: string;
  readonly token: string;
  /** Sealed to the merchant's key, and to the session's, which only the gateway can open. The real one seals by itself. */
  readonly sealed?: Sealed;
}

interface Sealed {
  readonly openable: string;
  readonly foreign: string;
}

/** What two brokers must answer alike, without values that differ from one session to the next. */
export interface AnswerShape {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly members: readonly string[];
  readonly problem?: object;
}

/** What earlier answers returned, for requests that need it. */
interface Known extends Sealed {
  readonly generation: number;
}

interface Question {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | string;
  readonly token?: string;
  readonly merchant?: string;
}

const COMPARED = ['content-type', 'cache-control', 'etag', 'retry-after', 'x-request-id'];

const OPERATION = { type: 'PURCHASE', coinAmount: 1, merchantId: 'm', ecomOperationId: 'kept-1', status: 'FAIL' };
const ORDER = { ecomOrderId: 'o', coinAmount: 1, merchantId: 'm', hppOrderId: 'h', merchantRequestId: 'r' };
const NOTIFICATION = JSON.stringify({ ...ORDER, orderStatus: 'FAIL', operation: OPERATION });

/** Questions in order: a session that is rejected is replaced for those that follow. */
const QUESTIONS: readonly (readonly [what: string, ask: (known: Known) => Question])[] = [
  ['a read', () => ({ path: '/session' })],
  ['another token', () => ({ path: '/session', token: 'another' })],
  ['another merchant', () => ({ path: '/session', merchant: 'hidden' })],
  ['a path that there is not', () => ({ path: '/session/nothing' })],
  ['a JWE to open', ({ openable }) => ({ path: '/payloads/decrypt', body: { jwe: openable } })],
  ['a JWE to another key', ({ foreign }) => ({ path: '/payloads/decrypt', body: { jwe: foreign } })],
  ['no JWE at all', () => ({ path: '/payloads/decrypt', body: { jwe: 'nothing' } })],
  ['a body that is no JSON', () => ({ path: '/payloads/decrypt', body: 'nothing' })],
  ['a notification', () => ({ path: '/notifications/open', body: { headers: {}, body: NOTIFICATION } })],
  ['a notification that is none', () => ({ path: '/notifications/open', body: { headers: {}, body: '{}' } })],
  [
    'word that calls have ended',
    ({ generation }) => ({
      path: '/session/handovers',
      body: { generation: generation + 1, participant: '6d6b2f0a-3d0e-4c2b-9f0e-0d7f7a1f5a52' },
    }),
  ],
  [
    'a rejection of what was never issued',
    () => ({ path: '/session/rejections', body: { generation: Number.MAX_SAFE_INTEGER, reason: 'b_used_token' } }),
  ],
  ['a rejection without a generation', () => ({ path: '/session/rejections', body: { reason: 'b_used_token' } })],
  ['a rejection', ({ generation }) => ({ path: '/session/rejections', body: { generation, reason: 'b_used_token' } })],
  [
    'the same once more',
    ({ generation }) => ({ path: '/session/rejections', body: { generation, reason: 'b_used_token' } }),
  ],
];

/** A broker's answers to all of them. */
export async function answersOf(broker: AskedBroker): Promise<Readonly<Record<string, AnswerShape>>> {
  const known = await knownOf(broker);
  const answers: Record<string, AnswerShape> = {};
  for (const [what, questionOf] of QUESTIONS) answers[what] = await shapeOf(await ask(broker, questionOf(known)));
  return answers;
}

/** The first frames of the event stream: the names of their fields, and the event's name. */
export async function streamShapeOf(broker: AskedBroker): Promise<object> {
  const gone = new AbortController();
  const response = await ask(broker, { path: '/session/events' }, gone.signal);
  let text = '';
  for await (const chunk of response.body!) {
    text += Buffer.from(chunk as Uint8Array).toString();
    if (/^data: .*\n\n/m.test(text)) break;
  }
  gone.abort();
  const fields = text.split('\n').map((line) => line.replace(/^(id|retry|data): .*/, '$1'));
  return { status: response.status, type: response.headers.get('content-type'), fields };
}

async function knownOf(broker: AskedBroker): Promise<Known> {
  const json = async (question: Question): Promise<Record<string, unknown>> =>
    (await (await ask(broker, question)).json()) as Record<string, unknown>;
  const { generation } = await json({ path: '/session', headers: { prefer: 'wait=60' } });
  if (broker.sealed !== undefined) return { generation: generation as number, ...broker.sealed };
  const { jwk } = await json({ path: '/client-key' });
  const own = await json({ path: '/payloads/encrypt', body: { plaintext: 'x', recipient: jwk } });
  const foreign = await json({ path: '/payloads/encrypt', body: { plaintext: 'x' } });
  return { generation: generation as number, openable: own['jwe'] as string, foreign: foreign['jwe'] as string };
}

function ask({ url, token }: AskedBroker, question: Question, signal?: AbortSignal): Promise<Response> {
  const { path, headers, body, merchant = 'shop' } = question;
  const own = { authorization: `Bearer ${question.token ?? token}`, ...headers };
  const target = `${url}/v1/merchants/${merchant}${path}`;
  const during = signal === undefined ? {} : { signal };
  if (body === undefined) return fetch(target, { headers: own, ...during });
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(target, { method: 'POST', headers: { 'content-type': 'application/json', ...own }, body: text });
}

async function shapeOf(response: Response): Promise<AnswerShape> {
  const text = await response.text();
  const document = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
  const { type, title, status, code } = document;
  const headers = COMPARED.filter((name) => response.headers.has(name)).map((name) => {
    const value = response.headers.get(name) ?? '';
    return [name, name === 'x-request-id' || name === 'etag' ? 'given' : value.replace(/\d+/g, 'n')];
  });
  return {
    status: response.status,
    headers: Object.fromEntries(headers) as Record<string, string>,
    // The detail is for people, and may differ.
    members: Object.keys(document)
      .filter((name) => name !== 'detail')
      .sort(),
    ...(response.status < 400 ? {} : { problem: { type, title, status, code } }),
  };
}
