/**
 * A decision, read from the top: the verdict next to the first check that holds counts. The last check always holds.
 */
export type DecisionTable<Facts, Verdict> = readonly [
  ...(readonly (readonly [holds: (facts: Facts) => boolean, verdict: Verdict])[]),
  readonly [holds: typeof otherwise, verdict: Verdict],
];

/** The last check of every table. */
export function otherwise(): true {
  return true;
}

export function decide<Facts, Verdict>(table: DecisionTable<Facts, Verdict>, facts: Facts): Verdict {
  for (const [holds, verdict] of table) {
    if (holds(facts)) return verdict;
  }
  throw new Error('a decision table ends with `otherwise`');
}
