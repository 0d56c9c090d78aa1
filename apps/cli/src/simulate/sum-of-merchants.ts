import { mostWithin, type ScheduleFigures } from './figures.js';
import { callsLine, failedLine } from './printed-figures.js';
import { seconds } from './spans.js';

const HOUR_MS = 3_600_000;
const SECOND_MS = 1_000;

export interface PartOfSum {
  readonly callsAtMs: readonly number[];
  readonly figures: Pick<ScheduleFigures, 'failures' | 'withoutSessionMs' | 'budgetRefusals'>;
}

/** What a gateway sees of all merchants, and how many of them have a gap. Each was played separately. */
export interface SumOfMerchants {
  readonly merchants: number;
  readonly createCalls: number;
  readonly createCallsPerHour: number;
  readonly mostInAnHour: number;
  readonly failures: Readonly<Record<string, number>>;
  readonly heldUp: number;
  readonly withGap: number;
  /** The time without a session of the merchant that was longest without one. */
  readonly longestGapMs: number;
}

export function sumOf(parts: readonly PartOfSum[], durationMs: number): SumOfMerchants {
  const callsAtMs = parts.flatMap((part) => part.callsAtMs).sort((left, right) => left - right);
  const failures: Record<string, number> = {};
  for (const [kind, count] of parts.flatMap(({ figures }) => Object.entries(figures.failures))) {
    failures[kind] = (failures[kind] ?? 0) + count;
  }
  const gaps = parts.map(({ figures }) => figures.withoutSessionMs);
  return {
    merchants: parts.length,
    createCalls: callsAtMs.length,
    createCallsPerHour: (callsAtMs.length * HOUR_MS) / durationMs,
    mostInAnHour: mostWithin(callsAtMs, HOUR_MS),
    failures,
    heldUp: parts.filter(({ figures }) => figures.budgetRefusals > 0).length,
    withGap: gaps.filter((gapMs) => gapMs > 0).length,
    longestGapMs: gaps.reduce((longest, gapMs) => Math.max(longest, gapMs), 0),
  };
}

export function linesOfSum(sum: SumOfMerchants): readonly string[] {
  return [
    `all ${sum.merchants} merchants`,
    callsLine(sum),
    `  budget           ${sum.heldUp === 0 ? 'no renewals held up' : `renewals of ${counted(sum.heldUp)} held up`}`,
    failedLine(sum.failures),
    `  without session  ${counted(sum.withGap)}${longestGap(sum)}`,
  ];
}

const counted = (merchants: number): string =>
  merchants === 0 ? 'none' : `${merchants} ${merchants === 1 ? 'merchant' : 'merchants'}`;

function longestGap({ withGap, longestGapMs }: SumOfMerchants): string {
  const longest = seconds(longestGapMs);
  if (withGap === 0) return '';
  if (withGap === 1) return `, for ${longest}`;
  return Math.round(longestGapMs / SECOND_MS) === 0 ? `, ${longest} each` : `, at most ${longest} each`;
}
