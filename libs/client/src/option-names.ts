import { InvalidInput } from './errors.js';

/** What other clients call options that have a different name here. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  token: 'auth',
  bearertoken: 'auth',
  authorization: 'auth',
  credentials: 'auth',
  baseurl: 'url',
  host: 'url',
  endpoint: 'url',
  brokerurl: 'url',
  merchantid: 'merchant',
  merchantname: 'merchant',
  tenant: 'merchant',
  timeout: 'timeoutMs',
  minremaining: 'minRemainingMs',
  logger: 'onEvent',
  onerror: 'onEvent',
  headers: 'traceHeaders',
  agent: 'fetch',
  dispatcher: 'fetch',
};

/** How far a name may be from the one meant: one extra letter and two swapped ones. */
const MAX_DISTANCE = 3;
const MAX_NAME_LENGTH = 40;

/** A missing value was usually meant to come from one. */
export const IS_IT_SET = 'is its environment variable set?';

interface NamesMessage {
  /** What kind of name it is; `option` by default. */
  readonly kind?: string;
  /** What to say if no name is close; the list of all names by default. */
  readonly otherwise?: string;
}

/**
 * A setting with an unknown name would have no effect, and nobody would notice.
 * @throws InvalidInput `option_invalid`, which suggests what may have been meant
 */
export function demandKnownNames(
  given: readonly string[],
  known: readonly string[],
  { kind = 'option', otherwise = `there are ${known.join(', ')}` }: NamesMessage = {},
): void {
  for (const name of given) {
    if (known.includes(name)) continue;
    const shown = /^[A-Za-z0-9_$.-]+$/.test(name) ? name.slice(0, MAX_NAME_LENGTH) : 'a name that is none';
    const meant = meantBy(name, known);
    const remedy = meant === undefined ? otherwise : `did you mean "${meant}"?`;
    throw new InvalidInput('option_invalid', `There is no ${kind} "${shown}": ${remedy}`);
  }
}

/**
 * `demandKnownNames` for an object's members, if there is an object.
 * @param unnamed are accepted too, but appear in no message
 * @throws InvalidInput `option_invalid`
 */
export function demandKnownOptions(options: unknown, known: readonly string[], unnamed: readonly string[] = []): void {
  if (options === undefined) return;
  if (typeof options !== 'object' || options === null) {
    throw new InvalidInput('option_invalid', `The options must be an object, with ${known.join(', ')}`);
  }
  const names = Object.keys(options).filter((name) => !unnamed.includes(name));
  demandKnownNames(names, known);
}

function meantBy(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_NAME_LENGTH) return undefined;
  const small = name.toLowerCase();
  const other = OTHER_NAMES[small.replace(/[_-]/g, '')];
  if (other !== undefined && known.includes(other)) return other;
  const [nearest] = known
    .map((one) => ({ one, far: distance(small, one.toLowerCase()) }))
    .filter(({ one, far }) => far <= Math.min(MAX_DISTANCE, one.length / 2))
    .sort((left, right) => left.far - right.far);
  return nearest?.one;
}

/** The number of letters to insert, remove or change (Levenshtein). */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (const [index, letter] of [...left].entries()) {
    const next = [index + 1];
    for (const [column, other] of [...right].entries()) {
      const change = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(change, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
