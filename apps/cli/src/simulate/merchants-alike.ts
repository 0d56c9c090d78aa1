import { warningsOf } from './advice.js';
import type { Judged } from './judged.js';
import { textOf, together, type Wording } from './wording.js';

interface Told {
  readonly wording: Wording;
  readonly merchants: readonly string[];
}

/** Of all merchants, in their order: one for those whose warnings differ by some seconds at most, which names the first of them. */
export function warningsOfAll(judged: readonly Judged[]): readonly string[] {
  const told: Told[] = [];
  for (const one of judged) {
    for (const wording of warningsOf(one))
      add(told, { wording, merchants: one.alike?.merchants ?? [one.setup.merchant] });
  }
  return told.map(({ wording, merchants: [first = '', ...others] }) => {
    return `${namesOf(first, others)}: ${textOf(wording)}`;
  });
}

/** Up to so many are named one by one. */
const MAX_NAMED = 4;

function namesOf(first: string, others: readonly string[]): string {
  if (others.length >= MAX_NAMED) return `${first} and ${others.length} others`;
  const last = others.at(-1);
  return last === undefined ? first : `${[first, ...others.slice(0, -1)].join(', ')} and ${last}`;
}

function add(told: Told[], one: Told): void {
  for (const [index, { wording, merchants }] of told.entries()) {
    const both = together(wording, one.wording);
    if (both === undefined) continue;
    told[index] = { wording: both, merchants: [...merchants, ...one.merchants] };
    return;
  }
  told.push(one);
}
