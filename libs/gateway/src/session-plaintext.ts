import type { Instant } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { checkServerKey, thumbprintOf } from '#libs/jwe';
import type { ServerPublicKey } from '#libs/session';
import { parseJson } from './answer-reader.js';
import { readExpiry } from './expiry.js';
import { type AnswerMarks, invalidResponse } from './gateway-answer.js';

/** The content of an opened session. */
interface SessionContent {
  readonly authToken: string;
  readonly deviceId: string;
  readonly refreshToken?: string;
  readonly serverPublic: ServerPublicKey;
  /** The earliest expiry that it names, by the gateway's clock. */
  readonly expiresAt?: Instant;
}

interface ReadingContext {
  /** The gateway's clock at the time of the answer, as far as it is known. */
  readonly asOf: Instant;
  readonly marks: AnswerMarks;
}

type Fields = Readonly<Record<string, unknown>>;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const KEY_NAMES = ['serverPublic', 'serverPublicKey'] as const;

/**
 * Reads the plaintext of the response JWE in either form, ignoring fields it does not know (interface description,
 * "Session").
 * @throws GatewayFailure `invalid_response`, naming the field and the rule, never a value
 */
export function readSession(plaintext: Uint8Array, context: ReadingContext): SessionContent {
  const refuse = (detail: string, cause?: unknown): never => {
    throw invalidResponse(context.marks, `the session is not usable: ${detail}`, cause);
  };
  const value = parseJson(plaintext);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse('it is not a JSON object');
  const fields = value as Fields;
  const expiry = readExpiry(fields, context.asOf);
  if (expiry.given === 'unreadable') return refuse(`${expiry.field} is not a moment in a known format`);
  const refreshToken = isAbsent(fields['refreshToken']) ? undefined : uuidOf(fields, 'refreshToken', refuse);
  return {
    authToken: uuidOf(fields, 'authToken', refuse),
    deviceId: uuidOf(fields, 'deviceId', refuse),
    ...(refreshToken === undefined ? {} : { refreshToken }),
    serverPublic: serverKeyOf(fields, refuse),
    ...(expiry.given === 'moment' ? { expiresAt: expiry.expiresAt } : {}),
  };
}

type Refuse = (detail: string, cause?: unknown) => never;

/** Serialisers write a field that has no value as null. */
const isAbsent = (value: unknown): boolean => value === undefined || value === null;

function uuidOf(fields: Fields, name: string, refuse: Refuse): string {
  const value = fields[name];
  return typeof value === 'string' && UUID.test(value) ? value : refuse(`${name} is not a UUID`);
}

/** The gateway gives its key under one of two names; if under both, it must be the same key. */
function serverKeyOf(fields: Fields, refuse: Refuse): ServerPublicKey {
  const given = KEY_NAMES.filter((name) => !isAbsent(fields[name]));
  const [key, ...others] = given.map((name) => checkedKey(fields, name, refuse));
  if (key === undefined) return refuse(`it has neither ${KEY_NAMES.join(' nor ')}`);
  if (others.some((other) => thumbprintOf(other) !== thumbprintOf(key))) {
    return refuse(`${KEY_NAMES.join(' and ')} are two different keys`);
  }
  return key;
}

function checkedKey(fields: Fields, name: string, refuse: Refuse): ServerPublicKey {
  try {
    return checkServerKey(fields[name]);
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    return refuse(`${name}: ${error.detail ?? error.code}`, error);
  }
}
