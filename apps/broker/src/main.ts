import { demandNode, hearSignals } from '#libs/program';

// Registered before anything else is loaded.
const signals = hearSignals();
// On an older version, libraries fail while they load.
demandNode('session-broker');
const { runBroker } = await import('./run-broker.js');
process.exit(await runBroker({ environment: process.env, signals }));
