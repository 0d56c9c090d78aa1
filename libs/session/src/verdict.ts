/** One rule of a decision: a verdict, or nothing when the rule does not apply. */
export type Check<Facts, Verdict> = (facts: Facts) => Verdict | undefined;

/** Asks the checks in order; the first verdict counts. */
export function firstVerdict<Facts, Verdict>(
  checks: readonly Check<Facts, Verdict>[],
  facts: Facts,
  otherwise: Verdict,
): Verdict {
  for (const check of checks) {
    const verdict = check(facts);
    if (verdict !== undefined) return verdict;
  }
  return otherwise;
}
