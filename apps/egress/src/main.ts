import { demandNode, hearSignals } from '#libs/program';

// Heard before anything else is loaded.
const signals = hearSignals();
// Libraries fail on an older one while they are loaded.
demandNode('session-egress');
const { runEgress } = await import('./run-egress.js');
process.exit(await runEgress({ environment: process.env, signals }));
