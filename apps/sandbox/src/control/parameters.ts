import { optional, readInput, shape, text, wholeNumber, type Reader } from '../input/read-input.js';

/** Whole numbers in a path or a query, which arrive as text. */
export const numberText =
  (least: number, most: number): Reader<number> =>
  (value, path) =>
    wholeNumber(least, most)(typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value, path);

const idPath = shape({ id: numberText(1, Number.MAX_SAFE_INTEGER) });

/** The id at the end of a path. @throws BrokerError `invalid_request` */
export function idOf(parameters: unknown): number {
  return readInput(idPath, parameters).id;
}

/** A word in the query that narrows down a list. */
export const filterWord = optional(text({ longest: 64 }));
