import { hearSignals } from '#libs/program';

// Heard before anything else is loaded.
const signals = hearSignals();
const { runBroker } = await import('./run-broker.js');
process.exit(await runBroker({ environment: process.env, signals }));
