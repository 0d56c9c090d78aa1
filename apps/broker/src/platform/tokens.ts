/** The names under which Nest injects what the process provides. */
export const CLOCK = Symbol('clock');
export const LOGGER = Symbol('logger');
/** The name people know this replica by, and its clock: what a response says about the replica that gave it. */
export const THIS_REPLICA = Symbol('this replica');
/** Undefined if nothing is measured. */
export const TELEMETRY = Symbol('telemetry');
/** Where payloads are sealed and opened. */
export const JWE_WORK = Symbol('jwe work');
