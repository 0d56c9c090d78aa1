import { ProtocolError } from './errors.js';
import { COORDINATE } from './jwe.js';
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
 * When a session ends: what the broker says is left of it, counted from a moment at which it had not yet said so. So it
 * is never too late, whatever any wall clock shows.
 * @throws ProtocolError as readSession
 */
export function readEndMs({ expiresInMs }: JsonObject, countedFromMs: number): number {
  if (typeof expiresInMs === 'number' && expiresInMs >= 0 && expiresInMs < Infinity) return countedFromMs + expiresInMs;
  throw invalid('expiresInMs');
}

function text(document: JsonObject, name: string): string {
  const value = document[name];
  if (typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH) return value;
  throw invalid(name);
}

function generationOf({ generation }: JsonObject): number {
  if (Number.isSafeInteger(generation) && (generation as number) > 0) return generation as number;
  throw invalid('generation');
}

function instant(document: JsonObject, name: string): string {
  const value = text(document, name);
  if (Number.isNaN(Date.parse(value))) throw invalid(name);
  return value;
}

function serverPublic(value: unknown): ServerPublicKey {
  const { kty, crv, x, y } = isJsonObject(value) ? value : {};
  const areWhole = [x, y].every((each) => typeof each === 'string' && COORDINATE.test(each));
  if (kty !== 'EC' || crv !== 'P-384' || !areWhole) throw invalid('serverPublic');
  return Object.freeze({ kty, crv, x: x as string, y: y as string });
}

function invalid(member: string): ProtocolError {
  return new ProtocolError('session_invalid', `The broker's session document has no valid "${member}"`);
}
