import { nearestName } from './nearest-name.js';

interface Meant {
  /** The setting that was probably meant. */
  readonly name: string;
  /** The value was written where the name of a file that holds it belongs. */
  readonly isOfFile: boolean;
}

/** A shorter name is a prefix of too many others. */
const MIN_LENGTH = 3;

/**
 * The setting that an unknown name was probably meant for: one with nearly the same name, `passwordFile` for
 * `password`, or the only one that begins with the name.
 */
export function meantSetting(name: string, known: readonly string[]): Meant | undefined {
  const near = nearestName(name, known);
  if (near !== undefined) return { name: near, isOfFile: false };
  const ofFile = known.find((each) => each === `${name}File` || each === `${name}Files`);
  if (ofFile !== undefined) return { name: ofFile, isOfFile: true };
  const [only, another] = name.length < MIN_LENGTH ? [] : known.filter((each) => each.startsWith(name));
  return only === undefined || another !== undefined ? undefined : { name: only, isOfFile: false };
}
