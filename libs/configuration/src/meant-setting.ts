import { nearestName } from './nearest-name.js';

interface Meant {
  /** The setting that was probably meant. */
  readonly name: string;
  /** The value was written where the name of a file with it belongs. */
  readonly isOfFile: boolean;
}

/** Shorter than this, a name is the beginning of too many. */
const MIN_LENGTH = 3;

/**
 * The setting that a name which is none was probably meant for: one that is nearly the same, `passwordFile` where `password`
 * is written, or the only one that begins with it.
 */
export function meantSetting(name: string, known: readonly string[]): Meant | undefined {
  const near = nearestName(name, known);
  if (near !== undefined) return { name: near, isOfFile: false };
  const ofFile = known.find((each) => each === `${name}File` || each === `${name}Files`);
  if (ofFile !== undefined) return { name: ofFile, isOfFile: true };
  const [only, another] = name.length < MIN_LENGTH ? [] : known.filter((each) => each.startsWith(name));
  return only === undefined || another !== undefined ? undefined : { name: only, isOfFile: false };
}
