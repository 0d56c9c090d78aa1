import { parseArgs } from 'node:util';
import { explore } from './explore.js';
import { rulesWith } from './world.js';

const { values } = parseArgs({
  options: {
    replicas: { type: 'string', default: '3' },
    faults: { type: 'string', default: '1' },
    'on-store-outage': { type: 'string', default: 'fail' },
    'max-states': { type: 'string', default: '2000000' },
  },
});
const bounds = {
  replicas: Number(values.replicas),
  faults: Number(values.faults),
  maxStates: Number(values['max-states']),
  rules: rulesWith(values['on-store-outage'] === 'authorize' ? 'authorize' : 'fail'),
};
const startedAt = performance.now();
const { states, actions, depth, isComplete, breach } = explore(bounds);
const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
console.log(`${bounds.replicas} replicas, ${bounds.faults} faults, onStoreOutage: ${bounds.rules.onStoreOutage}`);
console.log(`${states} states, ${actions} actions, ${depth} steps deep, ${seconds} s`);
if (breach !== undefined) {
  console.log(`BROKEN: ${breach.invariant.name}: ${breach.invariant.sentence}`);
  for (const [at, label] of breach.trace.entries()) console.log(`${String(at + 1).padStart(4)}  ${label}`);
  process.exitCode = 1;
} else {
  console.log(isComplete ? 'complete: nothing broken' : `INCOMPLETE: the limit of states is reached, nothing broken`);
}
