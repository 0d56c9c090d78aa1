/** What a changed list has and lacks, by name. */
export interface NamesBetween {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export function namesBetween(before: readonly string[], after: readonly string[]): NamesBetween {
  const [old, next] = [new Set(before), new Set(after)];
  return { added: [...next].filter((name) => !old.has(name)), removed: [...old].filter((name) => !next.has(name)) };
}
