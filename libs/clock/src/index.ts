export { Alarm } from './alarm.js';
export { SystemClock, type Clock, type ScheduledTask } from './clock.js';
export { Deadline } from './deadline.js';
export { formatDuration, parseDurationMs } from './duration.js';
export { earliest, instantFromEpochMs, msBetween, parseHttpDate, plusMs, toRfc3339, type Instant } from './instant.js';
export { VirtualClock } from './virtual-clock.js';
