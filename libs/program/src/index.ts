export { liveProgram, type RunningProgram } from './live-program.js';
export { demandNode, OLDEST_NODE, refusedNode } from './node-version.js';
export { programRuntime } from './program-runtime.js';
export { hearSignals, type ProgramSignals } from './program-signals.js';
export { VERSION } from './version.js';
