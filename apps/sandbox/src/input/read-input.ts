import { BrokerError } from '#libs/errors';

/** Where a value is, for the message: `lifetimeMs`, `merchants[2].publicJwk`. */
type Path = string;

/** A fault that a reader found, with its location and never with the value. */
export class InputFault extends Error {
  override readonly name = 'InputFault';
}

/** Unknown in, typed out; throws an InputFault. */
export type Reader<T> = (value: unknown, path: Path) => T;

type Members = Readonly<Record<string, unknown>>;
type MemberReaders = Readonly<Record<string, Reader<unknown>>>;
type Shape<R extends MemberReaders> = { readonly [K in keyof R]: ReturnType<R[K]> };

export const text =
  (rule: { readonly longest: number; readonly pattern?: RegExp; readonly due?: string }): Reader<string> =>
  (value, path) => {
    if (typeof value !== 'string' || value.length > rule.longest || rule.pattern?.test(value) === false) {
      throw new InputFault(`${path} must be ${rule.due ?? `text of at most ${rule.longest} characters`}`);
    }
    return value;
  };

export const wholeNumber =
  (least: number, most: number): Reader<number> =>
  (value, path) => {
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
      throw new InputFault(`${path} must be a whole number from ${least} to ${most}`);
    }
    return value as number;
  };

export const trueOrFalse: Reader<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw new InputFault(`${path} must be true or false`);
  return value;
};

export const oneOf =
  <const T extends string>(words: readonly T[]): Reader<T> =>
  (value, path) => {
    const word = words.find((candidate) => candidate === value);
    if (word === undefined) throw new InputFault(`${path} must be one of ${words.join(', ')}`);
    return word;
  };

export const optional =
  <T>(reader: Reader<T>): Reader<T | undefined> =>
  (value, path) =>
    value === undefined ? undefined : reader(value, path);

export const withDefault =
  <T>(reader: Reader<T>, fallback: T): Reader<T> =>
  (value, path) =>
    value === undefined ? fallback : reader(value, path);

export const listOf =
  <T>(reader: Reader<T>, longest: number): Reader<readonly T[]> =>
  (value, path) => {
    if (!Array.isArray(value) || value.length > longest) {
      throw new InputFault(`${path} must be a list of at most ${longest}`);
    }
    return value.map((item, index) => reader(item, `${path}[${index}]`));
  };

/**
 * An object with these members and no others: a mistyped name is reported, not ignored. Reports every fault at once.
 */
export const shape =
  <R extends MemberReaders>(readers: R): Reader<Shape<R>> =>
  (value, path) => {
    const prefix = path === '' ? '' : `${path}.`;
    const unknown = Object.keys(membersOf(value, path))
      .filter((name) => !Object.hasOwn(readers, name))
      .map((name) => `${prefix}${name.slice(0, 64)} is unknown; known are ${Object.keys(readers).join(', ')}`);
    return readMembers(readers, { value, path, faults: unknown });
  };

/** An object with at least these members; others are ignored. Reports every fault at once. */
export const openShape =
  <R extends MemberReaders>(readers: R): Reader<Shape<R>> =>
  (value, path) =>
    readMembers(readers, { value, path, faults: [] });

interface MembersToRead {
  readonly value: unknown;
  readonly path: Path;
  /** Faults found so far. */
  readonly faults: readonly string[];
}

function readMembers<R extends MemberReaders>(readers: R, given: MembersToRead): Shape<R> {
  const members = membersOf(given.value, given.path);
  const prefix = given.path === '' ? '' : `${given.path}.`;
  const faults = [...given.faults];
  const read = Object.entries(readers).map(([name, reader]) => {
    try {
      return [name, reader(members[name], `${prefix}${name}`)];
    } catch (error) {
      if (!(error instanceof InputFault)) throw error;
      faults.push(error.message);
      return [name, undefined];
    }
  });
  if (faults.length > 0) throw new InputFault(faults.join('; '));
  return Object.fromEntries(read) as Shape<R>;
}

/**
 * Reads a whole input.
 * @throws BrokerError `invalid_request` that lists every fault found
 */
export function readInput<T>(reader: Reader<T>, value: unknown): T {
  try {
    return reader(value, '');
  } catch (error) {
    if (!(error instanceof InputFault)) throw error;
    throw new BrokerError('invalid_request', { publicDetail: error.message.trim() });
  }
}

function membersOf(value: unknown, path: Path): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members;
  throw new InputFault(path === '' ? 'a JSON object is due' : `${path} must be a JSON object`);
}
