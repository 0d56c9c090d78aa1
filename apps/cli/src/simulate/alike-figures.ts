import { formatDuration } from '#libs/clock';
import {
  ASSUMED,
  costOfWaiting,
  linesOf,
  nightLinesOf,
  othersLineOf,
  perDay,
  type PlayedMerchant,
  remainingText,
} from './printed-figures.js';
import { inWindow } from './spans.js';
import { spanText } from './wording.js';

/** Up to this many are named one by one. */
const MAX_NAMED = 3;

/**
 * One block for merchants with the same settings, giving for each figure the least and the most that any of them has.
 */
export function blockOf(alike: readonly PlayedMerchant[]): readonly string[] {
  const [first, ...others] = alike;
  if (first === undefined) return [];
  return others.length === 0 ? linesOf(first) : linesOfAlike(alike, first);
}

function linesOfAlike(alike: readonly PlayedMerchant[], first: PlayedMerchant): readonly string[] {
  const counts = (of: (one: PlayedMerchant) => number): string => rangeOf(alike.map(of));
  const gap = (of: (one: PlayedMerchant) => number): string => {
    const gaps = alike.map(of);
    return spanText({ leastMs: Math.min(...gaps), mostMs: Math.max(...gaps) });
  };
  const callsADay = formatted(alike.map(perDay));
  const used = first.budget.map(
    (window, index) => `${Math.max(...alike.map(({ budget }) => budget[index]?.used ?? 0))} of ${inWindow(window)}`,
  );
  const hardestHit = alike.find(({ otherRuns }) => otherRuns !== undefined);
  return [
    `${namesOf(alike)}, lifetime ${formatDuration(first.lifetimeMs)}${first.isFallback ? ASSUMED : ''}; of each:`,
    `  create calls     ${counts((one) => one.createCalls)}: ${callsADay} a day, at most ${Math.max(...alike.map((one) => one.mostInAnHour))} in an hour`,
    `  budget           at most ${used.join(', ')} used, renewals held up: ${counts((one) => one.budgetRefusals)}${costOfWaiting(...alike)}`,
    `  failed           ${failedOf(alike)}`,
    `  worst remaining  ${remainingText(leastRemainingOf(alike, first))}`,
    `  past the margin  ${gap((one) => one.pastMarginMs)}`,
    `  without session  ${gap((one) => one.withoutSessionMs)}`,
    ...(hardestHit === undefined ? [] : othersLineOf(hardestHit, hardestHit.merchant)),
    ...nightLinesOf(first, `, of ${first.merchant}`),
  ];
}

function namesOf(alike: readonly PlayedMerchant[]): string {
  const names = alike.map(({ merchant }) => merchant);
  const who = names.length <= MAX_NAMED ? names.join(', ') : `${names[0] ?? ''} first`;
  return `${names.length} merchants alike, ${who}`;
}

function failedOf(alike: readonly PlayedMerchant[]): string {
  const kinds = [...new Set(alike.flatMap(({ failures }) => Object.keys(failures)))];
  const ranges = kinds.map((kind) => `${rangeOf(alike.map(({ failures }) => failures[kind] ?? 0))} ${kind}`);
  return ranges.join(', ') || 'none';
}

function leastRemainingOf(alike: readonly PlayedMerchant[], first: PlayedMerchant): PlayedMerchant {
  const left = ({ worstRemainingMs = Infinity }: PlayedMerchant): number => worstRemainingMs;
  return alike.reduce((least, next) => (left(next) < left(least) ? next : least), first);
}

const rangeOf = (counts: readonly number[]): string =>
  formatted([Math.min(...counts), Math.max(...counts)].map(String));

function formatted(texts: readonly string[]): string {
  const sorted = [...texts].sort((one, other) => Number(one) - Number(other));
  const [least = '', most = ''] = [sorted[0], sorted.at(-1)];
  return least === most ? most : `${least} to ${most}`;
}
