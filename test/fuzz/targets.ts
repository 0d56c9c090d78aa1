import type { FuzzTarget } from './fuzz-target.js';
import { announcements } from './targets/announcements.js';
import { configurations } from './targets/configurations.js';
import { eventStream } from './targets/event-stream.js';
import { httpPorts } from './targets/http-ports.js';
import { jwes } from './targets/jwes.js';
import { records } from './targets/records.js';
import { gatewayAnswers, sessionPlaintexts } from './targets/session-plaintexts.js';

/** Those that need only this process. */
export const parsers: readonly FuzzTarget[] = [
  configurations,
  jwes,
  sessionPlaintexts,
  gatewayAnswers,
  announcements,
  records,
  eventStream,
];

export const allTargets: readonly FuzzTarget[] = [...httpPorts, ...parsers];
