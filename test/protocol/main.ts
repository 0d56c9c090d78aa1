import { parseArgs } from 'node:util';
import { explore } from './explore.js';
import { rulesWith } from './world.js';

const { values } = parseArgs({
  options: {
    replicas: { type: 'string', default: '3' },
    faults: { type: 'string', default: '1' },
    'on-store-outage': { type: 'string', default: 'fail' },
    'max-states': { type: 'string', default: '100000000' },
    'max-seconds': { type: 'string', default: '600' },
  },
});
const secondsUsed = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
};
const bounds = {
  replicas: Number(values.replicas),
  faults: Number(values.faults),
  maxStates: Number(values['max-states']),
  isTimeUp: (): boolean => secondsUsed() > Number(values['max-seconds']),
  rules: rulesWith(values['on-store-outage'] === 'authorize' ? 'authorize' : 'fail'),
};
const { states, actions, depth, isComplete, breach } = explore(bounds);
const seconds = `${secondsUsed().toFixed(1)} s of one core`;
const megabytes = `${Math.round(process.resourceUsage().maxRSS / 1_024)} MB`;
console.log(`${bounds.replicas} replicas, ${bounds.faults} faults, onStoreOutage: ${bounds.rules.onStoreOutage}`);
console.log(`${states} states, ${actions} actions, ${depth} steps deep, ${seconds}, ${megabytes}`);
if (breach !== undefined) {
  console.log(`BROKEN: ${breach.invariant.name}: ${breach.invariant.sentence}`);
  for (const [at, label] of breach.trace.entries()) console.log(`${String(at + 1).padStart(4)}  ${label}`);
  process.exitCode = 1;
} else {
  const covered = `INCOMPLETE: whatever takes up to ${depth} steps was seen, some of what takes more; nothing broken`;
  console.log(isComplete ? 'complete: nothing broken' : covered);
}
