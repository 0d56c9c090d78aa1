export { Alarm } from './alarm.js';
export { nextTurn, SystemClock, type Clock, type ScheduledTask } from './clock.js';
export { DailyWindow, type DailyTimes, type Span } from './daily-window.js';
export { Deadline } from './deadline.js';
export { formatDuration, parseDurationMs } from './duration.js';
export {
  earliest,
  instantFromEpochMs,
  latest,
  msBetween,
  parseHttpDate,
  plusMs,
  toRfc3339,
  type Instant,
} from './instant.js';
export { parseTimeOfDayMs } from './time-of-day.js';
export { isTimeZone } from './time-zone.js';
export { VirtualClock } from './virtual-clock.js';
