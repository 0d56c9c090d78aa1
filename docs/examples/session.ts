// Reads a session, follows it by events, reports it as dead, and seals and opens a payload: the plain HTTP API, as a
// program without the client package would use it. Node.js 22.18 or later runs it as it is; in a clone, with any Node.js,
// the one from the lock file does: npm exec -c 'node docs/examples/session.ts'
//   BROKER_URL=http://127.0.0.1:8080 BROKER_TOKEN=… node docs/examples/session.ts, and BROKER_MERCHANT=… for a merchant not named shop
import { setTimeout } from 'node:timers/promises';

const { BROKER_URL = '', BROKER_TOKEN = '', BROKER_MERCHANT = 'shop' } = process.env;
const [url, token] = [BROKER_URL.trim(), BROKER_TOKEN.trim()];
if (!/^https?:/.test(url) || !/^\S+$/.test(token))
  throw new Error(
    'set BROKER_URL and BROKER_TOKEN: the URL begins with http:// or https://, and the token has no line break',
  );

interface Session {
  readonly generation: number;
  readonly expiresAt: string;
}

type Document = Readonly<Record<string, string>>;

/** Retries when a busy broker says so (Retry-After, a minute at most), and throws on any other refusal. */
async function call(path: string, init: RequestInit = {}, tries = 5): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...init.headers };
  const response = await fetch(`${url}/v1/merchants/${BROKER_MERCHANT}${path}`, {
    redirect: 'manual',
    signal: AbortSignal.timeout(40_000),
    ...init,
    headers,
  }).catch(({ cause, message }: Error) => {
    const why = cause instanceof Error ? cause.message : message;
    const hint = /wrong version|ECONNRESET|EPIPE|other side closed|HTTP\/1\.1 protocol/.test(why)
      ? '; is it https:// or http://?'
      : '';
    throw new Error(`nothing answers at ${url} (BROKER_URL): ${why}${hint}`);
  });
  if (response.ok || response.status === 304) return response;
  const problem = await documentOf(response);
  const { code, requestId } = problem;
  if (code === undefined) throw notOfBroker(path, response);
  const waitS = Number(response.headers.get('retry-after') ?? 1);
  if ((response.status === 429 || response.status === 503) && tries > 1 && waitS <= 60) {
    console.error(`waiting ${waitS} s, as the broker asks: ${whyOf(problem)}`);
    await setTimeout(1_000 * waitS);
    return call(path, init, tries - 1);
  }
  throw new Error(`${path}: ${response.status} ${whyOf(problem)} (request ${requestId})`);
}

const whyOf = ({ code, title, detail, cause }: Document): string =>
  [code, title, detail, cause].filter(Boolean).join('; ');

/** Empty if the answer is not JSON, such as a proxy's page. */
async function documentOf(response: Response): Promise<Document> {
  return ((await response.json().catch(() => undefined)) ?? {}) as Document;
}

const notOfBroker = (path: string, { status }: Response): Error =>
  new Error(`${path}: a ${status} that is not the broker's: is BROKER_URL right?`);

/** Anything else that answers there with a 200 has none of these members. */
const MEMBERS = ['generation', 'jwk', 'jwe', 'plaintext'];

async function get<Answer>(path: string, init?: RequestInit): Promise<Answer> {
  return answerOf(path, await call(path, init));
}

async function answerOf<Answer>(path: string, response: Response): Promise<Answer> {
  const document = await documentOf(response);
  if (MEMBERS.every((name) => document[name] === undefined)) throw notOfBroker(path, response);
  return document as Answer;
}

async function post<Answer>(path: string, body: object): Promise<Answer> {
  return get(path, { method: 'POST', body: JSON.stringify(body) });
}

/** Sessions as they come, from the event stream. A real program reconnects when it ends. */
async function* follow(lastEventId: number): AsyncGenerator<Session, undefined> {
  const path = '/session/events';
  const response = await call(path, { headers: { 'last-event-id': String(lastEventId) } });
  const { body, headers } = response;
  if (body === null || !headers.get('content-type')?.startsWith('text/event-stream')) throw notOfBroker(path, response);
  let text = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + chunk).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = block.split('\n').find((line) => line.startsWith('data: '));
      if (data !== undefined) yield JSON.parse(data.slice('data: '.length)) as Session;
    }
  }
  return undefined;
}

console.error('reading the session: where there is none yet, the broker answers after 30 s at the latest');
const session = await get<Session>('/session', { headers: { prefer: 'wait=30' } });
console.log(`generation ${session.generation} until ${session.expiresAt}`);

const again = await call('/session', { headers: { 'if-none-match': `"${session.generation}"` } });
if (again.status !== 304) await answerOf('/session', again);
console.log(`asked again: ${again.status}`);

// As if a call with the previous session had been refused. Report the generation that you used.
const used = session.generation - 1;
const following: Promise<IteratorResult<Session, undefined>> = follow(used)
  .next()
  .catch(({ message }: Error) => {
    throw new Error(`the event stream: ${message}; a real program connects again`);
  });
const newer = await post<Session>('/session/rejections', { generation: used, reason: 'b_expired_token' });
console.log(`rejected: newer is ${newer.generation > used ? 'yes' : 'no'}`);
const { value: pushed } = await following;
console.log(`pushed: ${pushed?.generation === newer.generation ? 'the same' : 'another'}`);

const { jwk } = await get<{ jwk: object }>('/client-key');
const { jwe } = await post<{ jwe: string }>('/payloads/encrypt', { plaintext: 'a payment', recipient: jwk });
const { plaintext } = await post<{ plaintext: string }>('/payloads/decrypt', { jwe });
console.log(`opened: ${plaintext}`);
process.exit(0);
