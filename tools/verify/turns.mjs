// The short parts, divided so that one run in ten of the checks of a change runs each of them.

const MOST_TURNS = 10;

const secondsOf = (group) => group.reduce((sum, { seconds }) => sum + seconds, 0);

/** @returns the parts that also run by turns, in groups that take about as long as each other */
export function turnsOf(parts, most = MOST_TURNS) {
  const short = parts.filter(({ seconds }) => seconds !== undefined);
  const groups = Array.from({ length: Math.min(most, short.length) }, () => []);
  for (const part of short.toSorted((one, other) => other.seconds - one.seconds)) {
    groups.reduce((least, group) => (secondsOf(group) < secondsOf(least) ? group : least)).push(part);
  }
  return groups;
}

/**
 * @param given the number of a run: each one has the next turn
 * @returns the parts of this turn, and a line that says which they are
 */
export function turn(parts, given) {
  const groups = turnsOf(parts);
  const index = given % groups.length;
  const chosen = groups[index];
  const names = chosen.map(({ name }) => name).join(', ');
  return { chosen, line: `turn ${index + 1} of ${groups.length} (run ${given}): ${names}` };
}
