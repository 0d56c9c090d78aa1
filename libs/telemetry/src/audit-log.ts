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
  /** The gateway's code that a consumer names, or the code of a refusal. */
  readonly reason?: string | undefined;
  readonly bytes?: number | undefined;
  /** The configured pattern of a path, never the path. */
  readonly route?: string | undefined;
  /** What became of a payment that was sent on. */
  readonly result?: EgressOutcome | undefined;
  /** Of the answer that the caller got; undefined where it was gone before. */
  readonly status?: number | undefined;
  /** How many of the same kind this record stands for; left out when it stands for itself. */
  readonly count?: number | undefined;
  /** Merchants, or clients of an egress, that a changed configuration has and the one before it had not … */
  readonly added?: number | undefined;
  /** … and those that it lacks. */
  readonly removed?: number | undefined;
}

/** Append-only, one JSON line a record, numbered without a gap for the life of the process. */
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
      const head = { stream: 'audit', version: SCHEMA_VERSION, sequence, time: toRfc3339(clock.now()) };
      target.write(`${JSON.stringify({ ...head, ...record })}\n`);
    },
  };
}

/** Written at once: a record that a crash could lose would be missing just when it matters. */
function fileAt(dest: string, onFailure: (error: unknown) => void): { write(line: string): unknown } {
  const file = pino.destination({ dest, append: true, mkdir: false, mode: OWNER_ONLY, sync: true });
  return file.on('error', onFailure);
}
