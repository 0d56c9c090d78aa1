import { request as open } from 'node:http';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';

export interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Of JSON, as it is; an empty object of anything else. Each test knows what it asked for. */
  readonly body: ReturnType<typeof JSON.parse>;
}

type Check = (response: Response) => void;

const isJson = (type = ''): boolean => /^application\/(?:[\w.-]+\+)?json\b/.test(type);

/** A plain request over a connection of its own, sent when it is awaited, with what is expected of its answer. */
export class Test implements PromiseLike<Response> {
  readonly #url: URL;
  readonly #method: string;
  readonly #headers: Record<string, string> = {};
  readonly #checks: Check[] = [];
  #content: string | undefined;
  #answer: Promise<Response> | undefined;

  constructor(method: string, url: URL) {
    this.#method = method;
    this.#url = url;
  }

  set(name: string | Readonly<Record<string, string>>, value = ''): this {
    for (const [key, own] of typeof name === 'string' ? [[name, value] as const] : Object.entries(name)) {
      this.#headers[key.toLowerCase()] = own;
    }
    return this;
  }

  auth(token: string): this {
    return this.set('authorization', `Bearer ${token}`);
  }

  type(type: string): this {
    return this.set('content-type', type === 'json' ? 'application/json' : type);
  }

  /** An object is sent as JSON. */
  send(content: object | string): this {
    this.#content = typeof content === 'string' ? content : JSON.stringify(content);
    this.#headers['content-type'] ??=
      typeof content === 'string' ? 'application/x-www-form-urlencoded' : 'application/json';
    return this;
  }

  /** The status, with the content if given; a header; or whatever the function expects. */
  expect(expected: number | string | Check, value?: unknown): this {
    // Made here, so that its stack names the line that expects.
    const failure = new Error();
    this.#checks.push((response) => {
      if (typeof expected === 'function') return expected(response);
      for (const [what, isAsExpected, found] of faultsOf(response, expected, value)) {
        if (isAsExpected) continue;
        failure.message = `${this.#method} ${this.#url.pathname}: expected ${what}, not ${JSON.stringify(found)}; ${response.text}`;
        throw failure;
      }
    });
    return this;
  }

  then<One = Response, Other = never>(
    fulfilled?: ((response: Response) => One | PromiseLike<One>) | null,
    rejected?: ((reason: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<One | Other> {
    this.#answer ??= this.#send();
    return this.#answer.then(fulfilled, rejected);
  }

  async #send(): Promise<Response> {
    const response = await new Promise<Response>((resolve, reject) => {
      const sent = open(this.#url, { method: this.#method, headers: this.#headers, agent: false }, (incoming) => {
        const { statusCode = 0, headers } = incoming;
        text(incoming).then((said) => {
          const body: unknown = isJson(headers['content-type']) && said !== '' ? JSON.parse(said) : {};
          resolve({ status: statusCode, headers: headers as Record<string, string>, text: said, body });
        }, reject);
      });
      sent.once('error', reject).end(this.#content);
    });
    for (const check of this.#checks) check(response);
    return response;
  }
}

type Finding = readonly [what: string, isAsExpected: boolean, found: unknown];

function faultsOf(response: Response, expected: number | string, value: unknown): readonly Finding[] {
  if (typeof expected === 'number') {
    const { status, body, text: said } = response;
    const found: unknown = typeof value === 'string' ? said : body;
    const content: Finding = [JSON.stringify(value), value === undefined || isDeepStrictEqual(found, value), found];
    return [[`the status ${expected}`, status === expected, status], content];
  }
  const found = response.headers[expected];
  const isSo = value instanceof RegExp ? value.test(found ?? '') : found === value;
  return [[`${expected}: ${String(value)}`, isSo, found]];
}

interface Requests {
  readonly get: (path: string) => Test;
  readonly head: (path: string) => Test;
  readonly post: (path: string) => Test;
  readonly put: (path: string) => Test;
  readonly delete: (path: string) => Test;
  readonly trace: (path: string) => Test;
}

/** @param token of the caller; without one the requests are nobody's */
export function request(url: string, token?: string): Requests {
  const asking = (method: string) => (path: string) => {
    const test = new Test(method, new URL(url + path));
    return token === undefined ? test : test.auth(token);
  };
  return {
    get: asking('GET'),
    head: asking('HEAD'),
    post: asking('POST'),
    put: asking('PUT'),
    delete: asking('DELETE'),
    trace: asking('TRACE'),
  };
}
