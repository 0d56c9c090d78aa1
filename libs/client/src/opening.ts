import { persist } from './attempts.js';
import type { ClientParts } from './client-parts.js';
import { ProtocolError } from './errors.js';
import { isJsonObject } from './json.js';

/** A notification as received at the URL that the payment named. */
export interface ReceivedNotification {
  /** Names in any case: pass `request.headers` of Node.js, or `Object.fromEntries(request.headers)`. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as text, not parsed. */
  readonly body: string;
}

/** What a notification says. Sealed or not, nothing in it proves who sent it: ask the gateway before shipping goods. */
export interface OpenedNotification {
  /** `hosted_page`: an order with its `operation`. `direct_payment`: the members of an operation. */
  readonly kind: 'hosted_page' | 'direct_payment';
  /** Whether it came as a JWE rather than as plain JSON. */
  readonly sealed: boolean;
  /** The gateway's own members, such as `operation` with its `status`. */
  readonly content: Readonly<Record<string, unknown>>;
}

const utf8 = new TextEncoder();
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const lacks = (what: string): ProtocolError => new ProtocolError('answer_invalid', `The broker answered with ${what}`);

/** Has the broker open a JWE to the merchant's key, as only the broker holds the private one. */
export function openJwe(parts: ClientParts, jwe: string, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const once = async (attempt: AbortSignal): Promise<Uint8Array> => {
    const { document } = await parts.http.json({ path: '/payloads/decrypt', body: { jwe }, signal: attempt });
    const { plaintext, encoding } = document;
    if (typeof plaintext !== 'string') throw lacks('no plaintext');
    // A plaintext that is not UTF-8 comes in base64, and the answer says so.
    if (encoding !== 'base64') return utf8.encode(plaintext);
    if (!BASE64.test(plaintext)) throw lacks('no base64');
    return Uint8Array.from(atob(plaintext), (character) => character.charCodeAt(0));
  };
  return persist(parts, once, [signal]);
}

export function openNotification(
  parts: ClientParts,
  { headers, body }: ReceivedNotification,
  signal: AbortSignal | undefined,
): Promise<OpenedNotification> {
  const once = async (attempt: AbortSignal): Promise<OpenedNotification> => {
    const call = { path: '/notifications/open', body: { headers, body }, signal: attempt };
    const { kind, sealed, content } = (await parts.http.json(call)).document;
    const isKnown = kind === 'hosted_page' || kind === 'direct_payment';
    if (isKnown && typeof sealed === 'boolean' && isJsonObject(content)) return { kind, sealed, content };
    throw lacks('no notification');
  };
  return persist(parts, once, [signal]);
}
