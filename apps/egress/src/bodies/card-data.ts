import { isUtf8 } from 'node:buffer';
import { BrokerError } from '#libs/errors';
import type { AdmittedRequest } from '../exchange/exchange-parts.js';
import { jsonObjectIn } from '../exchange/json-object.js';

/** Members that the interface names for card data: each is a JWE of its own, to the bank's payment key. */
export const CARD_MEMBERS = ['encryptedCardNumber', 'encryptedCardData', 'encryptedExpDate'];
/** All of them begin like this. */
const BEGINNING = 'encrypted';

/** In JSON, a text before a colon is a name. The third group is its value, if that is a text. */
const TEXTS = /("[^"\\]*(?:\\.[^"\\]*)*")(\s*:\s*("[^"\\]*(?:\\.[^"\\]*)*")?)?/gs;
const BASE64URL = /^[\w-]+$/;
/** As many digits as card numbers of today have, with single spaces between them: hyphens would be those of a UUID. */
const DIGITS = /\b\d(?: ?\d){13,18}\b/;
const ALL_DIGITS = new RegExp(DIGITS, 'g');
const ZERO = 48;

interface Inspected {
  readonly target: Pick<AdmittedRequest['target'], 'query'>;
  /** `encrypted`: further names of such members. */
  readonly route: Pick<AdmittedRequest['route'], 'encrypted'>;
  readonly record: Pick<AdmittedRequest['record'], 'hasCard'>;
}

/**
 * Demands that a body is JSON, and that members for card data are JWEs, in the body at any depth and in the query. It
 * reads the text itself: a parsed object has only the last of several members with the same name. What looks like a
 * card number elsewhere is only reported: one in ten numbers of such a length does.
 * @throws BrokerError `invalid_request`, `card_number_in_clear`
 */
export function inspect(body: Buffer, { target, route, record }: Inspected): void {
  const json = jsonTextIn(body);
  // Most bodies have none of these names, however they are escaped.
  if (['\\', BEGINNING, ...route.encrypted].some((part) => json.includes(part))) {
    for (const [, text = '', colon, value] of json.matchAll(TEXTS)) {
      if (colon !== undefined) demandSealed(route, JSON.parse(text) as string, value?.slice(1, -1));
    }
  }
  if (target.query !== '') {
    for (const [name, value] of new URLSearchParams(target.query)) demandSealed(route, name, value);
  }
  record.hasCard = DIGITS.test(json) && [...json.matchAll(ALL_DIGITS)].some(([digits]) => hasCheckDigit(digits));
}

/** A byte order mark stays, and is no JSON: it would be sent. */
function jsonTextIn(body: Buffer): string {
  try {
    if (!isUtf8(body)) throw new SyntaxError('not UTF-8');
    const text = body.toString();
    JSON.parse(text);
    return text;
  } catch {
    // The parser's own error is dropped on purpose: it quotes the body.
    throw new BrokerError('invalid_request', { publicDetail: 'the body is not JSON in UTF-8' });
  }
}

function demandSealed({ encrypted }: Inspected['route'], name: string, value: string | undefined): void {
  const isOfCard = CARD_MEMBERS.includes(name) || encrypted.includes(name);
  if (!isOfCard || (value !== undefined && isCompactJwe(value))) return;
  throw new BrokerError('card_number_in_clear', { publicDetail: `${name}: encrypt it to the bank's payment key` });
}

/** Any algorithm will do: which one the bank's payment key needs is the bank's concern. */
function isCompactJwe(text: string): boolean {
  const parts = text.split('.');
  if (parts.length !== 5 || !parts.every((part) => BASE64URL.test(part))) return false;
  const header = jsonObjectIn(Buffer.from(parts[0] ?? '', 'base64url'));
  return typeof header?.['alg'] === 'string' && typeof header['enc'] === 'string';
}

/** The Luhn formula (ISO/IEC 7812-1, annex B): from the right, every second digit counts double. */
function hasCheckDigit(written: string): boolean {
  const digits = written.replace(/\D/g, '');
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = digits.charCodeAt(digits.length - 1 - index) - ZERO;
    const counted = index % 2 === 0 ? digit : digit * 2;
    sum += counted > 9 ? counted - 9 : counted;
  }
  return sum % 10 === 0;
}
