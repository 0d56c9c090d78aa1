/** Names under which Nest injects what the process gives. */
export const CLOCK = Symbol('clock');
export const LOGGER = Symbol('logger');
/** What people know this replica by, with the clock that it goes by: what an answer says of whoever gave it. */
export const THIS_REPLICA = Symbol('this replica');
/** Undefined where nothing is measured. */
export const TELEMETRY = Symbol('telemetry');
/** Where payloads are sealed and opened. */
export const JWE_WORK = Symbol('jwe work');
