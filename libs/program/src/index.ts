export { liveProgram, type RunningProgram } from './live-program.js';
export { hearSignals, type ProgramSignals } from './program-signals.js';
export { VERSION } from './version.js';
