import { demandNode, hearSignals } from '#libs/program';

// Registered before anything else is loaded.
const signals = hearSignals();
// On an older version, libraries fail while they load.
demandNode('session-egress');
const { runEgress } = await import('./run-egress.js');
process.exit(await runEgress({ environment: process.env, signals }));
