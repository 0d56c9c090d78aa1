import { demandNode, hearSignals } from '#libs/program';

// Heard before anything else is loaded.
const signals = hearSignals();
// Libraries fail on an older one while they are loaded.
demandNode('session-broker');
const { runBroker } = await import('./run-broker.js');
process.exit(await runBroker({ environment: process.env, signals }));
