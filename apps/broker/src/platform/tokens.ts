/** Names under which Nest injects what the process gives. */
export const CLOCK = Symbol('clock');
export const LOGGER = Symbol('logger');
/** Undefined where nothing is measured. */
export const TELEMETRY = Symbol('telemetry');
/** Where payloads are sealed and opened. */
export const JWE_WORK = Symbol('jwe work');
