/** Longer than a test may take: a time-out of this length never fires, however slow the machine is. */
const NEVER_MS = 600_000;

/** For a store on a real Redis whose time-outs are not what a test is about. */
export const PATIENT_REDIS = { connectMs: NEVER_MS, commandMs: NEVER_MS, silenceMs: NEVER_MS };

/** For a call whose time-out is not what a test is about. */
export const PATIENT_CALL_MS = NEVER_MS;

/** The longest time-out that a configuration may give to a gateway: for one that is never late. */
export const PATIENT_GATEWAY = '60s';

/** The lifetime of a session that ends when the test says so. */
export const LASTING_SESSION_MS = 86_400_000;
