import { readFile } from 'node:fs/promises';
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { type Clock, Deadline } from '#libs/clock';
import { type ExchangeEnd, exchangeEndOf, trustOptions } from '#libs/outbound';

/** A document that an issuer publishes, and how to get it. */
export interface PublishedPlace {
  readonly uri: URL;
  /** Holds the bearer token that the issuer requires; read again for each request, because its content is rotated. */
  readonly tokenFile?: string;
  /** PEM certificates that replace the built-in authorities. */
  readonly ca?: string;
}

/** Why it could not be fetched. */
export type FetchFailure =
  /** `mark`: the system's code, if the file cannot be read; without one, it holds no usable token. */
  | { readonly kind: 'token_file'; readonly mark?: string }
  | { readonly kind: 'no_answer'; readonly end: ExchangeEnd }
  | { readonly kind: 'no_answer_in_time'; readonly wasReached: boolean }
  | { readonly kind: 'status'; readonly httpStatus: number; readonly hadToken: boolean }
  | { readonly kind: 'too_long' }
  | { readonly kind: 'no_json' }
  /** The signal was aborted. */
  | { readonly kind: 'ended' };

export type Fetched = { readonly kind: 'document'; readonly document: object } | FetchFailure;

interface Bounds {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
}

const FETCH_LIMIT_MS = 5_000;
export const MAX_DOCUMENT_BYTES = 262_144;
const MAX_HEADER_BYTES = 16_384;
/** Node.js: a header that cannot be written, which among ours can only be the token's. */
const UNSENDABLE = 'ERR_INVALID_CHAR';

/** Fetches a JSON object: one GET, no redirect, bounded in time and size, with the certificate verified. */
export async function fetchPublished(place: PublishedPlace, { clock, signal }: Bounds): Promise<Fetched> {
  const token = await tokenOf(place);
  if (typeof token === 'object') return token;
  const deadline = new Deadline(clock, FETCH_LIMIT_MS, signal);
  const exchange = new Exchange(place, token, deadline.signal);
  try {
    return await exchange.outcome();
  } catch (error) {
    if (deadline.expired) return { kind: 'no_answer_in_time', wasReached: exchange.wasReached };
    if (deadline.signal.aborted) return { kind: 'ended' };
    const end = exchangeEndOf(error);
    return end.mark === UNSENDABLE ? { kind: 'token_file' } : { kind: 'no_answer', end };
  } finally {
    deadline.close();
  }
}

async function tokenOf({ tokenFile }: PublishedPlace): Promise<string | undefined | FetchFailure> {
  if (tokenFile === undefined) return undefined;
  try {
    const token = (await readFile(tokenFile, 'utf8')).trim();
    return token === '' ? { kind: 'token_file' } : token;
  } catch (error) {
    return { kind: 'token_file', mark: exchangeEndOf(error).mark };
  }
}

/** One request and its outcome. */
class Exchange {
  readonly #place: PublishedPlace;
  readonly #token: string | undefined;
  readonly #signal: AbortSignal;
  #wasReached = false;

  constructor(place: PublishedPlace, token: string | undefined, signal: AbortSignal) {
    this.#place = place;
    this.#token = token;
    this.#signal = signal;
  }

  /** Whether a connection was made: if a firewall drops the packets, there never is one. */
  get wasReached(): boolean {
    return this.#wasReached;
  }

  /** @throws Error of the network, or of the signal */
  async outcome(): Promise<Fetched> {
    const answer = await this.#answer();
    if (answer.statusCode !== 200) {
      answer.destroy();
      return { kind: 'status', httpStatus: answer.statusCode ?? 0, hadToken: this.#token !== undefined };
    }
    const text = await textOf(answer);
    return text === undefined ? { kind: 'too_long' } : parsed(text);
  }

  #answer(): Promise<IncomingMessage> {
    const { uri, ca } = this.#place;
    const token = this.#token;
    const headers = {
      accept: 'application/json',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    // A new connection each time, as the request is made only a few times an hour.
    const options = {
      headers,
      signal: this.#signal,
      agent: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      ...trustOptions({ pins: [], ...(ca === undefined ? {} : { ca }) }),
    };
    const ask = uri.protocol === 'https:' ? requestHttps : requestHttp;
    return new Promise((resolve, reject) => {
      const request = ask(uri, options, resolve).on('error', reject);
      request.on('socket', (socket) => socket.once('connect', () => (this.#wasReached = true)));
      request.end();
    });
  }
}

/** @returns undefined for a text that is longer than any document of an issuer */
async function textOf(answer: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_DOCUMENT_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): Fetched {
  try {
    const document: unknown = JSON.parse(text);
    return typeof document === 'object' && document !== null ? { kind: 'document', document } : { kind: 'no_json' };
  } catch (error) {
    // The parser's message would quote what was received.
    if (error instanceof SyntaxError) return { kind: 'no_json' };
    throw error;
  }
}
