import { type Warning, warningsOf } from './advice.js';
import { type Judged, membersOf } from './judged.js';
import { textOf, together } from './wording.js';

interface Told extends Warning {
  /** Each stands for all its merchants alike, whether or not the warning is for all of them. */
  readonly among: ReadonlySet<Judged>;
}

/**
 * The warnings for all merchants, in order. Those that differ only in similar spans become one, which counts and names
 * the merchants.
 */
export function warningsOfAll(judged: readonly Judged[]): readonly string[] {
  const told: Told[] = [];
  for (const one of judged) {
    for (const warning of warningsOf(one)) add(told, { ...warning, among: new Set([one]) });
  }
  return told.map((one) => `${subjectOf(one)}: ${textOf(one.wording)}`);
}

/** Up to this many are named one by one. */
const MAX_NAMED = 3;

function subjectOf({ merchants, among }: Told): string {
  const all = [...among].reduce((sum, one) => sum + membersOf(one).length, 0);
  const more = merchants.length - MAX_NAMED;
  const others = more > 0 ? ` and ${more} ${more === 1 ? 'other' : 'others'}` : '';
  const names = `${merchants.slice(0, MAX_NAMED).join(', ')}${others}`;
  if (merchants.length < all) return `${merchants.length} of ${all} (${names})`;
  return more > 0 ? `all ${all} (${names})` : names;
}

function add(told: Told[], one: Told): void {
  for (const [index, { wording, merchants, among }] of told.entries()) {
    const both = together(wording, one.wording);
    if (both === undefined) continue;
    told[index] = {
      wording: both,
      merchants: [...merchants, ...one.merchants],
      among: new Set([...among, ...one.among]),
    };
    return;
  }
  told.push(one);
}
