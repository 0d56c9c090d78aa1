import { hearSignals } from '#libs/program';

// Heard before anything else is loaded.
const signals = hearSignals();
const { runEgress } = await import('./run-egress.js');
process.exit(await runEgress({ environment: process.env, signals }));
