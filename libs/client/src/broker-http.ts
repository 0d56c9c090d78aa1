import { orAborted, reasonOf } from './deadline.js';
import { BrokerUnavailable, SessionBrokerError } from './errors.js';
import { discard, type FetchAnswer, type FetchInit, readText, systemCodeIn } from './fetch.js';
import { type JsonObject, parsedJson, parseJsonObject } from './json.js';
import type { Settings } from './options.js';
import { ageMs, errorOf } from './problem.js';
import { demandToken } from './token-source.js';
import { VERSION } from './version.js';

export interface BrokerCall {
  /** Relative to the merchant's URL, such as `/session`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  readonly signal: AbortSignal;
}

export interface JsonAnswer {
  /** Empty for 204. */
  readonly document: JsonObject;
  /** When the request was sent, by the monotonic clock; earlier if the answer comes from a cache. */
  readonly countedFromMs: number;
}

const USER_AGENT = `session-broker-client/${VERSION} node/${process.versions.node}`;

/** One exchange with the broker: credential, status, limits. It never retries, except once after a 401. */
export class BrokerHttp {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** @throws as open */
  async json(call: BrokerCall): Promise<JsonAnswer> {
    const sentAtMs = this.#settings.time.monotonicMs();
    const answer = await this.open(call, 'application/json');
    const text = answer.status === 204 ? '{}' : await this.#textOf(answer, call.signal);
    return { document: parseJsonObject(text), countedFromMs: sentAtMs - ageMs(answer) };
  }

  /**
   * An answer of 200 or 204 whose body has not been read yet.
   * @throws SessionBrokerError; the signal's error when the call's signal aborts
   */
  async open(call: BrokerCall, accept: string): Promise<FetchAnswer> {
    const { auth } = this.#settings;
    const authorization = await this.#authorization(false, call.signal);
    let answer = await this.#send(call, accept, authorization);
    const fresh = answer.status === 401 && typeof auth === 'function' && (await this.#authorization(true, call.signal));
    if (fresh !== false && fresh !== authorization) {
      discard(answer.body);
      answer = await this.#send(call, accept, fresh);
    }
    if (answer.status === 200 || answer.status === 204) return answer;
    throw errorOf(answer, await this.#problemOf(answer, call.signal), auth !== undefined);
  }

  async #authorization(refresh: boolean, signal: AbortSignal): Promise<string | undefined> {
    const { auth } = this.#settings;
    // Mutual TLS then identifies the caller.
    if (auth === undefined) return undefined;
    const given = async (): Promise<string> => (typeof auth === 'string' ? auth : auth({ refresh, signal }));
    try {
      const token: unknown = await orAborted(given(), signal);
      demandToken(token);
      return `Bearer ${token}`;
    } catch (error) {
      if (signal.aborted) throw reasonOf(signal);
      if (error instanceof SessionBrokerError) throw error;
      // The token source may put anything into its errors, so none of that is passed on.
      throw new BrokerUnavailable('token_unavailable', 'The auth function threw; log it there, it is not told here');
    }
  }

  async #send(call: BrokerCall, accept: string, authorization: string | undefined): Promise<FetchAnswer> {
    const request = requestOf(call, accept, authorization);
    try {
      return await orAborted(this.#settings.fetch(this.#settings.merchantUrl + call.path, request), call.signal);
    } catch (error) {
      throw networkError(error, call.signal);
    }
  }

  /** The problem document, or whatever else is there: the status says enough. */
  async #problemOf(answer: FetchAnswer, signal: AbortSignal): Promise<unknown> {
    if (answer.headers.get('content-type')?.includes('json') === true) {
      return parsedJson(await this.#textOf(answer, signal));
    }
    discard(answer.body);
    return undefined;
  }

  async #textOf(answer: FetchAnswer, signal: AbortSignal): Promise<string> {
    try {
      return await readText(answer.body, signal);
    } catch (error) {
      throw networkError(error, signal);
    }
  }
}

function requestOf(call: BrokerCall, accept: string, authorization: string | undefined): FetchInit {
  const { headers, body, signal } = call;
  return {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...headers,
      accept,
      'user-agent': USER_AGENT,
      ...(authorization === undefined ? {} : { authorization }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: 'manual',
    signal,
  };
}

/** Fetch errors come from many sources, and some quote the request, so only their system code is kept. */
export function networkError(error: unknown, signal: AbortSignal): Error {
  if (signal.aborted) return reasonOf(signal);
  if (error instanceof SessionBrokerError) return error;
  const code = systemCodeIn(error);
  return new BrokerUnavailable('network', `The broker cannot be reached${code === undefined ? '' : `: ${code}`}`);
}
