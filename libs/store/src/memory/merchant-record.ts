import type { DeathReport, MomentMark, RecordedFailure, Session } from '#libs/session';
import { CallLog, type TakenCall } from './call-log.js';
import { remainingMs, type StoreMoment } from './store-moment.js';

export interface GrantedLease {
  readonly owner: string;
  readonly fence: number;
  readonly end: StoreMoment;
  /** The claim carried a cool-down: given back when the gateway was never called. */
  readonly coolsDown: boolean;
  readonly call: TakenCall;
}

/** The session that the store has. */
export interface KeptSession {
  readonly session: Session;
  readonly answeredAtMs: number;
  /** What its offer was answered: the answer to the same offer again must not be another one. */
  readonly isContested: boolean;
}

/** Everything that is kept of one merchant, except its due moment. Moments are the store's monotonic milliseconds. */
export interface MerchantRecord {
  /** The newest fence that was ever granted or published; 0 before the first. */
  fence: number;
  stored: KeptSession | undefined;
  /** It stays after its end: only `liveLease` tells whether it still counts. */
  lease: GrantedLease | undefined;
  failures: number;
  failure: RecordedFailure | undefined;
  /** The generation that was condemned; 0 before the first. It says something of that session alone. */
  condemned: number;
  /** The last report of a dead session. It says something of the generation that it names. */
  reportedDead: { readonly report: DeathReport; readonly atMs: number } | undefined;
  /** When the last claim with a cool-down was granted. */
  cooledDown: { readonly fromMs: number; readonly mark: MomentMark } | undefined;
  readonly calls: CallLog;
}

export function newMerchantRecord(): MerchantRecord {
  return {
    fence: 0,
    stored: undefined,
    lease: undefined,
    failures: 0,
    failure: undefined,
    condemned: 0,
    reportedDead: undefined,
    cooledDown: undefined,
    calls: new CallLog(),
  };
}

/** A lease frees itself at its end. */
export function liveLease(record: MerchantRecord, nowMs: number): GrantedLease | undefined {
  return record.lease !== undefined && remainingMs(record.lease.end, nowMs) > 0 ? record.lease : undefined;
}
