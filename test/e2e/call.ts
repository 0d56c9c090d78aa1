import { request as requestPlain } from 'node:http';
import { type AgentOptions, request as requestTls } from 'node:https';
import { text as textOf } from 'node:stream/consumers';

export interface Call extends Pick<AgentOptions, 'ca' | 'cert' | 'key'> {
  /** `POST` if there is a body. */
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Is sent as JSON, if the headers name no other type. */
  readonly body?: object | string | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Partial<Record<string, string>>>;
  readonly text: string;
  /** That of JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** One call on a connection of its own, with headers and a client certificate that `fetch` does not let its users set. */
export function call(url: string, { method, headers = {}, body, ...tls }: Call = {}): Promise<Answer> {
  const sent = typeof body === 'object' ? JSON.stringify(body) : body;
  const own = body === undefined ? headers : { 'content-type': 'application/json', ...headers };
  const asked = { agent: false, method: method ?? (body === undefined ? 'GET' : 'POST'), headers: own, ...tls };
  return new Promise((resolve, reject) => {
    const calling = (url.startsWith('https:') ? requestTls : requestPlain)(url, asked, (response) => {
      const answerOf = (text: string): Answer => {
        const isJson = /^application\/(problem\+)?json/.test(response.headers['content-type'] ?? '');
        const parsed = isJson && text !== '' ? (JSON.parse(text) as Answer['body']) : {};
        const told = { status: response.statusCode ?? 0, headers: response.headers as Answer['headers'] };
        return { ...told, text, body: parsed };
      };
      textOf(response).then(answerOf).then(resolve, reject);
    });
    calling.on('error', reject).end(sent);
  });
}

/** What an answer is to match that refuses, with this code of the registry. */
export function problem(status: number, code: string): Pick<Answer, 'status' | 'body'> {
  return { status, body: { code } };
}

/** Of an answer that is to be 200. */
export function bodyOf<Body = Answer['body']>({ status, body }: Answer): Body {
  expect([status, body]).toEqual([200, body]);
  return body as Body;
}
