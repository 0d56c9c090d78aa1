import { parseArgs } from 'node:util';
import { type Bounds, explore } from './explore.js';
import { exploreWith, mistakes } from './mistakes.js';
import { type FaultKind, faultKinds } from './world.js';

const { values } = parseArgs({
  options: {
    replicas: { type: 'string', default: '3' },
    faults: { type: 'string', default: '1' },
    'max-states': { type: 'string', default: '100000000' },
    'max-seconds': { type: 'string', default: '600' },
    /** Only these strike, by name, separated by commas; all of them if left out. */
    kinds: { type: 'string' },
    /**
     * One search for each pair of kinds instead of one for all: less is kept at a time, and each is reported as it
     * ends.
     */
    'by-pairs': { type: 'boolean', default: false },
    /** Searches copies of the program with a mistake in each; only those with this in their name. */
    mistakes: { type: 'string' },
  },
});
const secondsUsed = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
};
const bounds: Bounds = {
  replicas: Number(values.replicas),
  faults: Number(values.faults),
  maxStates: Number(values['max-states']),
  isTimeUp: () => secondsUsed() > Number(values['max-seconds']),
};

function named(name: string): FaultKind {
  const kind = faultKinds.find((known) => known === name.trim());
  if (kind === undefined) throw new Error(`--kinds: ${name} is none of ${faultKinds.join(', ')}`);
  return kind;
}

const chosen = values.kinds?.split(',').map(named);

/** A path with two faults has at most two kinds, so all pairs together cover all paths. */
function searches(): readonly Bounds[] {
  const kinds = chosen ?? faultKinds;
  if (!values['by-pairs']) return [chosen === undefined ? bounds : { ...bounds, kinds }];
  if (bounds.faults > 2) throw new Error('--by-pairs is for two faults: three may be of three kinds');
  return kinds.flatMap((one, at) => kinds.slice(at + 1).map((other) => ({ ...bounds, kinds: [one, other] })));
}

/** @returns whether everything was seen, and held */
function search(one: Bounds): boolean {
  const { states, actions, depth, isComplete, breach } = explore(one);
  const seconds = `${secondsUsed().toFixed(1)} s of one core`;
  const megabytes = `${Math.round(process.resourceUsage().maxRSS / 1_024)} MB`;
  if (one.kinds !== undefined) console.log(`only: ${one.kinds.join(', ')}`);
  console.log(`${states} states, ${actions} actions, ${depth} steps deep, ${seconds}, ${megabytes}`);
  if (breach === undefined) {
    const covered = `INCOMPLETE: whatever takes up to ${depth} steps was seen, some of what takes more; nothing broken`;
    console.log(isComplete ? 'complete: nothing broken' : covered);
    return isComplete;
  }
  console.log(`BROKEN: ${breach.promise.name}: ${breach.promise.sentence}`);
  for (const [at, label] of breach.trace.entries()) console.log(`${String(at + 1).padStart(4)}  ${label}`);
  process.exitCode = 1;
  return false;
}

/** Whether each is found, by the promise that it breaks. */
async function searchForMistakes(named: string): Promise<void> {
  for (const mistake of mistakes.filter(({ name }) => name.includes(named))) {
    const startedAt = secondsUsed();
    const { kinds } = mistake;
    const faults = kinds === undefined ? { faults: 1 } : { faults: 2, kinds };
    const { breach, states } = await exploreWith(mistake, { replicas: 2, maxStates: bounds.maxStates, ...faults });
    const found = breach?.promise.name ?? 'nothing';
    const isFound = found === mistake.breaks;
    if (!isFound) process.exitCode = 1;
    const seconds = `${(secondsUsed() - startedAt).toFixed(1)} s, ${states} states, ${breach?.trace.length ?? 0} steps`;
    console.log(`${isFound ? 'found' : 'NOT FOUND'} by ${found} (${seconds}): ${mistake.name}`);
  }
}

if (values.mistakes !== undefined) {
  await searchForMistakes(values.mistakes);
} else {
  console.log(`${bounds.replicas} replicas, ${bounds.faults} faults`);
  const all = searches();
  const done = all.filter((one) => bounds.isTimeUp?.() !== true && search(one)).length;
  if (all.length > 1) console.log(`${done} of ${all.length} searches complete, nothing broken in them`);
}
