/** Names under which Nest injects what is not a class of this app. */
export const AUDIT_LOG = Symbol('audit log');
export const JWE_WORK = Symbol('jwe work');
export const CLOCK = Symbol('clock');
export const LOGGER = Symbol('logger');
export const STORE = Symbol('store');
export const GATEWAY = Symbol('gateway');
export const EVENTS = Symbol('events');
