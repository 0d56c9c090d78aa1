import { SessionBrokerError } from './errors.js';
import { isJsonObject, type JsonObject, parsedJson } from './json.js';

/** What an answer, an error or a body says: itself, and what it wraps. */
export interface FailureEvidence {
  readonly ours: readonly SessionBrokerError[];
  /** Everything else that was met, nearest first. */
  readonly links: readonly object[];
  /** HTTP statuses of answers and errors; what a body calls its status is something else. */
  readonly statuses: readonly number[];
  /** What may be the body of an answer. */
  readonly documents: readonly JsonObject[];
  readonly msgCodes: readonly string[];
}

/** Where libraries keep the answer, or the error that they wrap. */
const WRAPPED = ['response', 'originalError', 'cause'];
/** Where they keep the body of an answer; the gateway's published SDK makes it the whole message of its error. */
const BODIES = ['data', 'body', 'message'];
const STATUSES = ['status', 'statusCode'];
const MAX_DEPTH = 5;
/** The gateway's errors are a few hundred octets. */
const MAX_BODY_OCTETS = 65_536;
/** Codes as the system, OpenSSL and undici write them. A text of any other form could be anything. */
const SYSTEM_CODE = /^(?:[A-Z][A-Z0-9_]{1,39}|ERR_SSL_[A-Z0-9_/]{1,60})$/;

/** Never throws, and looks into the members named above and no others. */
export function evidenceIn(failure: unknown): FailureEvidence {
  const met = metIn(failure);
  const links = met.filter((link) => !(link instanceof SessionBrokerError));
  const bodies = [failure, ...links, ...membersOf(links, BODIES)];
  const documents = [...new Set(bodies)].map(documentIn).filter((document) => document !== undefined);
  return {
    ours: met.filter((link) => link instanceof SessionBrokerError),
    links,
    statuses: membersOf(links, STATUSES).filter(isHttpStatus),
    documents,
    msgCodes: membersOf(documents, ['msgCode']).filter((code) => typeof code === 'string'),
  };
}

/** The system's code for a failure, such as `ECONNREFUSED`, from the error or what caused it. */
export function systemCodeIn(failure: unknown): string | undefined {
  const isCode = (code: unknown): code is string => typeof code === 'string' && SYSTEM_CODE.test(code);
  return membersOf(evidenceIn(failure).links, ['code']).find(isCode);
}

/** An error of this package speaks for itself: what it wraps is not looked into. */
function metIn(failure: unknown): readonly object[] {
  const met = new Set<object>();
  let level: readonly unknown[] = [failure];
  for (let depth = 0; depth <= MAX_DEPTH; depth += 1) {
    const links = level.filter((one): one is object => typeof one === 'object' && one !== null && !met.has(one));
    for (const link of links) met.add(link);
    level = membersOf(
      links.filter((link) => !(link instanceof SessionBrokerError)),
      WRAPPED,
    );
  }
  return [...met];
}

function membersOf(links: readonly object[], names: readonly string[]): readonly unknown[] {
  return links.flatMap((link) => names.map((name) => memberOf(link, name)));
}

export function memberOf(link: object, name: string): unknown {
  try {
    return (link as JsonObject)[name];
  } catch {
    // A getter that throws has nothing to tell, and must not replace the failure that is looked at.
    return undefined;
  }
}

const isHttpStatus = (value: unknown): value is number => typeof value === 'number' && value >= 100 && value <= 599;

function documentIn(body: unknown): JsonObject | undefined {
  const isOctets = body instanceof Uint8Array || body instanceof ArrayBuffer;
  if (isOctets && body.byteLength > MAX_BODY_OCTETS) return undefined;
  const text = isOctets ? new TextDecoder().decode(body) : body;
  if (typeof text !== 'string') return isJsonObject(text) ? text : undefined;
  const parsed = text.length <= MAX_BODY_OCTETS ? parsedJson(text) : undefined;
  return isJsonObject(parsed) ? parsed : undefined;
}
