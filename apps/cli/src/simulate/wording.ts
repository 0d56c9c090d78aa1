import { seconds } from './spans.js';

/** A length of time in a sentence, which differs between merchants. */
export interface Span {
  readonly leastMs: number;
  readonly mostMs: number;
  /** Shown as `58s to 1m 2s`: a sentence with several spans is hard to read if each has its own `between`. */
  readonly isShort?: true;
  /** Shown as the shortest alone. */
  readonly isLeast?: true;
}

/** A sentence whose spans are not yet text, so that merchants whose sentences differ only in these can share one. */
export type Wording = readonly (string | Span)[];

/**
 * Merchants whose spans differ by more than both of these are reported separately, because they are not alike to a
 * reader. The share is of the longest span in the sentence.
 */
const ALIKE_MS = 60_000;
const ALIKE_SHARE = 0.1;

export const span = (durationMs: number): Span => ({ leastMs: durationMs, mostMs: durationMs });

export const atLeast = (durationMs: number): Span => ({ ...span(durationMs), isLeast: true });

/** Builds a sentence from text, spans and sentences that were built in the same way. */
export function worded(texts: TemplateStringsArray, ...parts: readonly (string | number | Span | Wording)[]): Wording {
  return texts.flatMap((text, index): Wording => {
    const part = parts[index];
    if (part === undefined) return [text];
    if (typeof part === 'string' || typeof part === 'number') return [text, String(part)];
    return 'leastMs' in part ? [text, part] : [text, ...part];
  });
}

export const joined = (wordings: readonly Wording[], by: string): Wording =>
  wordings.flatMap((wording, index): Wording => (index === 0 ? wording : [by, ...wording]));

export const textOf = (wording: Wording): string =>
  wording.map((part) => (typeof part === 'string' ? part : spanText(part))).join('');

export const short = (one: Span): Span => ({ ...one, isShort: true });

export function spanText({ leastMs, mostMs, isShort, isLeast }: Span): string {
  const [least, most] = [seconds(leastMs), seconds(mostMs)];
  if (least === most || isLeast === true) return least;
  // Nobody reads `between less than a second and 1s`.
  if (Math.round(leastMs / 1_000) === 0) return `at most ${most}`;
  return isShort === true ? `${least} to ${most}` : `between ${least} and ${most}`;
}

/** Both in one sentence; undefined if they differ in anything but similar spans. */
export function together(one: Wording, other: Wording): Wording | undefined {
  if (skeletonOf(one) !== skeletonOf(other)) return undefined;
  const spans = spansOf(one).map((first, index) => including(first, spansOf(other)[index] ?? first));
  const toleratedMs = Math.max(ALIKE_MS, ALIKE_SHARE * Math.max(0, ...spans.map(({ mostMs }) => mostMs)));
  if (spans.some(({ leastMs, mostMs }) => mostMs - leastMs > toleratedMs)) return undefined;
  let next = 0;
  return one.map((part) => (typeof part === 'string' ? part : (spans[next++] ?? part)));
}

/** It does not matter how a sentence was put together, only where its spans are. */
const skeletonOf = (wording: Wording): string =>
  JSON.stringify(
    wording.reduce<string[]>(
      (texts, part) =>
        typeof part === 'string' ? [...texts.slice(0, -1), `${texts.at(-1) ?? ''}${part}`] : [...texts, ''],
      [''],
    ),
  );

const spansOf = (wording: Wording): readonly Span[] => wording.filter((part) => typeof part !== 'string');

const including = (one: Span, other: Span): Span => ({
  ...one,
  leastMs: Math.min(one.leastMs, other.leastMs),
  mostMs: Math.max(one.mostMs, other.mostMs),
});
