import type { DeathReport, MomentMark, RecordedFailure, Session } from '#libs/session';
import { CallLog, type TakenCall } from './call-log.js';
import { isOver, type StoreMoment } from './store-moment.js';

export interface GrantedLease {
  readonly owner: string;
  readonly fence: number;
  readonly end: StoreMoment;
  /** The claim carried a cool-down, which is given back if the gateway was never called. */
  readonly coolsDown: boolean;
  readonly call: TakenCall;
}

/** The session that the store holds. */
export interface KeptSession {
  readonly session: Session;
  readonly answeredAtMs: number;
  /** How its offer was answered: repeating the same offer must get the same answer. */
  readonly isContested: boolean;
}

/**
 * Everything that is kept about one merchant, except its due moment. Moments are the store's monotonic milliseconds.
 */
export interface MerchantRecord {
  /** The newest fence that was ever granted or published; 0 before the first. */
  fence: number;
  stored: KeptSession | undefined;
  /** It stays after its end: only `liveLease` says whether it still counts. */
  lease: GrantedLease | undefined;
  failures: number;
  failure: RecordedFailure | undefined;
  /** The generation that was condemned; 0 before the first. It applies to that session only. */
  condemned: number;
  /** The last report of a dead session. It applies only to the generation that it names. */
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

/** A lease expires by itself. */
export function liveLease(record: MerchantRecord, nowMs: number): GrantedLease | undefined {
  return record.lease !== undefined && !isOver(record.lease.end, nowMs) ? record.lease : undefined;
}
