import { InputFault, listOf, optional, text, wholeNumber, type Reader } from '../input/read-input.js';

/* What the members of payment requests may hold, according to the published tables. A null is refused everywhere. */

const MAX_COIN_AMOUNT = Number.MAX_SAFE_INTEGER;
const MAX_TEXT = 4_096;
const MAX_JWE = 64 * 1024;
const DATE = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(\.\d{1,9})? ?(Z|[+-]\d{2}:?\d{2})$/;

const upTo = (longest: number): Reader<string> =>
  text({ longest, pattern: /^.+$/su, due: `text of 1 to ${longest} characters` });

export const id = upTo(36);
export const customerId = upTo(255);
export const words = upTo(MAX_TEXT);
export const wordsOrNone = text({ longest: MAX_TEXT });
export const sealedWords = text({ longest: MAX_JWE, pattern: /^[\w.-]+$/, due: 'a compact JWE' });
export const sendingDate = text({ longest: 64, pattern: DATE, due: 'a moment such as 2022-11-11 11:58:41.56+00:00' });

export const amount = wholeNumber(1, MAX_COIN_AMOUNT);

/** The published example of a refund writes the amount as text, observed clients as a number. */
export const amountOrText: Reader<number> = (value, path) =>
  amount(typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value, path);

/** Published clients send both `true` and `"true"`. */
export const switchOrText: Reader<boolean> = (value, path) => {
  if (typeof value === 'boolean') return value;
  if (typeof value === 'string') return value.toLowerCase() === 'true';
  throw new InputFault(`${path} must be true, false or text`);
};

export const notEmptyListOf =
  <T>(reader: Reader<T>): Reader<readonly T[]> =>
  (value, path) => {
    if (Array.isArray(value) && value.length === 0) throw new InputFault(`${path} must not be empty`);
    return listOf(reader, 100)(value, path);
  };

/** Where and how the merchant wants to be told of what becomes of a payment. */
export const notice = { notificationUrl: optional(wordsOrNone), notificationEncryption: optional(switchOrText) };
