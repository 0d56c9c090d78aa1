import { SessionBrokerError, SessionRejected } from './errors.js';
import { MAX_BODY_OCTETS } from './body-copy.js';
import { isOfMisdirectedPayment, type OwnAnswer, ownAnswerOf } from './own-answer.js';
import { mayBeCarriedOut } from './payment-errors.js';
import { isError } from './platform-errors.js';

/** What was found in a failure, wherever a library put it. */
export interface FailureEvidence {
  /** The gateway's codes, and anything else found in the same places. */
  readonly codes: readonly string[];
  /** Those found under the gateway's own member name for a code, which no other service is likely to use. */
  readonly msgCodes: readonly string[];
  readonly isUnauthorized: boolean;
  /** The reason of a `SessionRejected`, if there is one. */
  readonly rejection: string | undefined;
  /** The bank has the request, or may have it: nothing may cause it to be repeated. */
  readonly mayBeCarriedOut: boolean;
  /** Set when it was not a gateway that answered. */
  readonly ownAnswer: OwnAnswer | undefined;
  /** That answer was to a payment, not to another call. */
  readonly isMisdirected: boolean;
  /** From answers and errors, whatever their libraries mean by them. */
  readonly statuses: readonly number[];
  /** It contains an answer, so something was sent. */
  readonly isAnswered: boolean;
  /** The failure and the errors that it wraps, nearest first, except those of this package. */
  readonly errors: readonly unknown[];
  /** The errors of this package that were found. */
  readonly judged: readonly SessionBrokerError[];
  /** Fetch answers whose body nobody has read yet. */
  readonly unread: readonly object[];
}

/** Where libraries keep the answer, or the error that they wrap: both have an HTTP status. */
const CARRIERS = ['response', 'originalError', 'cause', 'error'];
/** Where they keep the answer's body, as text, octets or an object; one SDK has been seen to put it in `message`. */
const CONTENTS = ['body', 'data', 'text', 'raw', 'message'];
const MSG_CODE = 'msgCode';
const CODES = [MSG_CODE, 'code'];
const STATUSES = ['status', 'statusCode'];

const MAX_DEPTH = 8;
const MAX_VALUES = 64;
const MAX_TEXTS_LENGTH = 4 * MAX_BODY_OCTETS;
/** A message may quote something else in braces before the body. */
const MAX_JSON_STARTS = 8;

/** A text that is a code and nothing else. */
const BARE_CODE = /^\s{0,8}b_[a-z_]{1,64}\s{0,8}$/;

interface Place {
  readonly value: unknown;
  readonly depth: number;
  /** An error or an answer, which has an HTTP status. What a body calls its status is something else. */
  readonly isCarrier: boolean;
}

/** Searches whatever was thrown, answered or read. It never throws, calls nothing but getters, and always ends. */
export function evidenceIn(failure: unknown): FailureEvidence {
  const search = new Search();
  search.look({ value: failure, depth: 0, isCarrier: typeof failure !== 'string' });
  return search;
}

class Search implements FailureEvidence {
  readonly codes: string[] = [];
  readonly msgCodes: string[] = [];
  readonly unread: object[] = [];
  readonly statuses: number[] = [];
  readonly errors: unknown[] = [];
  readonly judged: SessionBrokerError[] = [];
  isAnswered = false;
  isUnauthorized = false;
  mayBeCarriedOut = false;
  rejection: string | undefined;
  ownAnswer: OwnAnswer | undefined;
  isMisdirected = false;
  readonly #seen = new Set<unknown>();
  #textLeft = MAX_TEXTS_LENGTH;

  look(first: Place): void {
    const places = [first];
    // The loop also visits what is added meanwhile, so what is nearest comes first.
    for (const place of places) {
      if (this.#seen.size >= MAX_VALUES) return;
      if (place.depth <= MAX_DEPTH && !this.#seen.has(place.value)) places.push(...this.#visit(place));
    }
  }

  #visit(place: Place): readonly Place[] {
    const { value, depth } = place;
    this.#seen.add(value);
    const text = typeof value === 'string' ? value : textOf(value);
    if (text !== undefined)
      return this.#parsed(text).map((one) => ({ value: one, depth: depth + 1, isCarrier: false }));
    return typeof value === 'object' && value !== null ? this.#visitObject(value, place) : [];
  }

  #visitObject(value: object, { depth, isCarrier }: Place): readonly Place[] {
    if (isInstance(value, SessionRejected)) this.#heed(value.reason);
    if (attempt(() => mayBeCarriedOut(value)) === true) this.mayBeCarriedOut = true;
    // The broker's own refusals say nothing about the gateway, whatever their status.
    if (isInstance(value, SessionBrokerError)) {
      this.judged.push(value);
      return [];
    }
    this.ownAnswer ??= attempt(() => ownAnswerOf(value));
    if (attempt(() => isOfMisdirectedPayment(value)) === true) this.isMisdirected = true;
    for (const name of CODES) {
      const code = read(value, name);
      if (typeof code !== 'string') continue;
      this.codes.push(code);
      if (name === MSG_CODE) this.msgCodes.push(code);
    }
    if (isCarrier) this.#visitCarrier(value);
    return [
      ...CARRIERS.map((name) => ({ value: read(value, name), depth: depth + 1, isCarrier })),
      ...CONTENTS.map((name) => ({ value: read(value, name), depth: depth + 1, isCarrier: false })),
    ];
  }

  #visitCarrier(value: object): void {
    const given = STATUSES.map((name) => Number(read(value, name, isScalar) ?? Number.NaN)).filter(isHttpStatus);
    this.statuses.push(...given);
    if (given.includes(401)) this.isUnauthorized = true;
    if (attempt(() => isError(value)) === true) this.errors.push(value);
    else if (given.length > 0) this.isAnswered = true;
    if (isUnreadAnswer(value)) this.unread.push(value);
  }

  #heed(reason: string): void {
    this.rejection ??= reason;
    this.codes.push(reason);
  }

  /** The objects that a text consists of or contains. */
  #parsed(text: string): readonly unknown[] {
    if (text.length > MAX_BODY_OCTETS || text.length > this.#textLeft) return [];
    this.#textLeft -= text.length;
    if (BARE_CODE.test(text)) this.codes.push(text.trim());
    const end = text.lastIndexOf('}') + 1;
    let start = text.indexOf('{');
    for (let tries = 0; tries < MAX_JSON_STARTS && start >= 0 && start < end; tries += 1) {
      const parsed = attempt(() => JSON.parse(text.slice(start, end)) as unknown);
      if (parsed !== undefined) return [parsed];
      start = text.indexOf('{', start + 1);
    }
    return [];
  }
}

/** The value may be anything, even a Proxy or a throwing getter; what cannot be read counts as absent. */
function attempt<Result>(look: () => Result): Result | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function read(value: object, name: string, isWanted: (member: unknown) => boolean = () => true): unknown {
  const member = attempt(() => (value as Readonly<Record<string, unknown>>)[name]);
  return isWanted(member) ? member : undefined;
}

const isHttpStatus = (status: number): boolean => status >= 100 && status <= 599;
const isScalar = (member: unknown): boolean => typeof member === 'string' || typeof member === 'number';

function isInstance<Kind>(value: unknown, kind: abstract new (...parts: never) => Kind): value is Kind {
  return attempt(() => value instanceof kind) === true;
}

function isUnreadAnswer(value: object): boolean {
  return read(value, 'bodyUsed') === false && typeof read(value, 'clone') === 'function';
}

/** For a body that was read as octets. */
function textOf(value: unknown): string | undefined {
  if (!isInstance(value, Uint8Array) && !isInstance(value, ArrayBuffer)) return undefined;
  return attempt(() => (value.byteLength > MAX_BODY_OCTETS ? '' : new TextDecoder().decode(value)));
}
