import { pino } from 'pino';
import { type Clock, toRfc3339 } from '#libs/clock';
import type { EgressOutcome } from './egress-instruments.js';
import { standardOutput } from './standard-output.js';

/** What a caller did, from a list of members that cannot hold a secret. */
export interface AuditRecord {
  readonly action: string;
  readonly outcome: 'allowed' | 'refused';
  readonly caller?: string | undefined;
  readonly merchant?: string | undefined;
  readonly generation?: number | undefined;
  readonly requestId?: string | undefined;
  /** The gateway's code that a consumer gave, or the code of a refusal. */
  readonly reason?: string | undefined;
  readonly bytes?: number | undefined;
  /** The configured pattern of a path, never the path. */
  readonly route?: string | undefined;
  /** What became of a payment that was forwarded. */
  readonly result?: EgressOutcome | undefined;
  /** The status of the answer that the caller got; undefined if the caller was gone before. */
  readonly status?: number | undefined;
  /** How many of the same kind this record stands for; left out if it stands for one. */
  readonly count?: number | undefined;
  /** Merchants, or clients of an egress, that a changed configuration has and the previous one did not … */
  readonly added?: number | undefined;
  /** … and those that it lacks. */
  readonly removed?: number | undefined;
}

/** Append-only, one JSON line per record, numbered without a gap for the life of the process. */
export interface AuditLog {
  append(record: AuditRecord): void;
}

interface AuditLogOptions {
  /** `stdout`, `none`, or the path of a file that is appended to, created with mode 0600. */
  readonly destination: string;
  readonly clock: Clock;
  /** A record could not be written. */
  readonly onFailure: (error: unknown) => void;
}

/** Raised when a member changes its meaning. */
const SCHEMA_VERSION = 1;
const OWNER_ONLY = 0o600;

export function createAuditLog({ destination, clock, onFailure }: AuditLogOptions): AuditLog {
  if (destination === 'none') return { append: () => undefined };
  const target = destination === 'stdout' ? standardOutput() : fileAt(destination, onFailure);
  let sequence = 0;
  return {
    append: (record) => {
      sequence += 1;
      const time = toRfc3339(clock.now());
      target.write(`${JSON.stringify({ stream: 'audit', version: SCHEMA_VERSION, sequence, time, ...record })}\n`);
    },
  };
}

/** Written at once: a record lost in a crash would be missing just when it matters. */
function fileAt(dest: string, onFailure: (error: unknown) => void): { write(line: string): unknown } {
  const file = pino.destination({ dest, append: true, mkdir: false, mode: OWNER_ONLY, sync: true });
  return file.on('error', onFailure);
}
