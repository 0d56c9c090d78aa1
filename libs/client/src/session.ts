import { ProtocolError } from './errors.js';
import { isJsonObject, type JsonObject } from './json.js';

/** A public key on P-384; `x` and `y` are base64url of 48 octets each. */
export interface ServerPublicKey {
  readonly kty: 'EC';
  readonly crv: 'P-384';
  readonly x: string;
  readonly y: string;
}

/**
 * A technical session of the gateway, as the broker hands it out. Its parts belong together: take them from one object,
 * and never mix those of two generations. Times are RFC 3339 in UTC. Printing it hides its secrets, but
 * `JSON.stringify` includes them.
 */
export interface Session {
  /** The merchant's id in the broker. */
  readonly merchant: string;
  /** Identifies the session to the broker. Only ever increases while the broker's store keeps its data. */
  readonly generation: number;
  /** Secret. */
  readonly authToken: string;
  /** Secret. */
  readonly deviceId: string;
  /** Secret. One of the gateway's two session forms has none. */
  readonly refreshToken?: string;
  /** Encrypt request bodies to this key. */
  readonly serverPublic: ServerPublicKey;
  /** RFC 7638 thumbprint of the merchant's key that opens the answers of this session. */
  readonly clientKeyThumbprint: string;
  /** When it was created. This and the next two are of the broker's clock: `remainingMs()` says what is left. */
  readonly createdAt: string;
  /** The gateway accepts it until then. */
  readonly expiresAt: string;
  /** A newer session can be expected from then on. */
  readonly renewAt: string;
}

/** When a session ends and when a newer one can be expected, by this process's monotonic clock. */
export interface LeftOfSession {
  readonly endsAtMs: number;
  readonly renewsAtMs: number;
}

const COORDINATE = /^[A-Za-z0-9_-]{64}$/;
const MAX_TEXT_LENGTH = 4_096;
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/**
 * Reads a session document, ignoring members that it does not know.
 * @throws ProtocolError naming the member at fault, never its value
 */
export function readSession(document: JsonObject, merchant: string): Session {
  if (document['merchant'] === undefined && document['generation'] === undefined) {
    throw new ProtocolError('session_invalid', "This answer is not the broker's, it is no session: is the URL right?");
  }
  const session: Session = {
    merchant: text(document, 'merchant'),
    generation: generationOf(document),
    authToken: text(document, 'authToken'),
    deviceId: text(document, 'deviceId'),
    ...(document['refreshToken'] === undefined ? {} : { refreshToken: text(document, 'refreshToken') }),
    serverPublic: serverPublic(document['serverPublic']),
    clientKeyThumbprint: text(document, 'clientKeyThumbprint'),
    createdAt: instant(document, 'createdAt'),
    expiresAt: instant(document, 'expiresAt'),
    renewAt: instant(document, 'renewAt'),
  };
  if (session.merchant !== merchant) throw invalid('merchant');
  const { generation, expiresAt, renewAt } = session;
  const shown = { merchant, generation, expiresAt, renewAt, secrets: '[hidden]' };
  Object.defineProperty(session, INSPECT, { value: () => shown, enumerable: false });
  return Object.freeze(session);
}

/**
 * What the broker says is left of a session, counted from a moment at which it had not yet said so: never too long,
 * whatever any wall clock shows.
 * @throws ProtocolError as readSession
 */
export function readLeft(document: JsonObject, countedFromMs: number): LeftOfSession {
  return {
    endsAtMs: countedFromMs + duration(document, 'expiresInMs'),
    renewsAtMs: countedFromMs + duration(document, 'renewInMs'),
  };
}

function text(document: JsonObject, name: string): string {
  const value = document[name];
  if (typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH) return value;
  throw invalid(name);
}

function generationOf(document: JsonObject): number {
  const value = document['generation'];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  throw invalid('generation');
}

function duration(document: JsonObject, name: string): number {
  const value = document[name];
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw invalid(name);
}

function instant(document: JsonObject, name: string): string {
  const value = text(document, name);
  if (Number.isNaN(Date.parse(value))) throw invalid(name);
  return value;
}

function serverPublic(value: unknown): ServerPublicKey {
  if (!isJsonObject(value) || value['kty'] !== 'EC' || value['crv'] !== 'P-384') throw invalid('serverPublic');
  const { x, y } = value;
  if (typeof x !== 'string' || typeof y !== 'string' || ![x, y].every((each) => COORDINATE.test(each))) {
    throw invalid('serverPublic');
  }
  return Object.freeze({ kty: 'EC', crv: 'P-384', x, y });
}

function invalid(member: string): ProtocolError {
  return new ProtocolError('session_invalid', `The broker's session document has no valid "${member}"`);
}
