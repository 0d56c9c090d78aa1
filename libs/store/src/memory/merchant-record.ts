import type { RecordedFailure, Session } from '#libs/session';
import { CallWindow } from './call-window.js';

export interface GrantedLease {
  readonly owner: string;
  readonly fence: number;
  readonly endsAtMs: number;
  /** The claim carried a cool-down: given back when the gateway was never called. */
  readonly coolsDown: boolean;
}

export interface PublishedSession {
  readonly session: Session;
  readonly atMs: number;
}

/** Everything that is kept of one merchant, except its due moment. Moments are the store's monotonic milliseconds. */
export interface MerchantRecord {
  /** The newest fence that was ever granted or published; 0 before the first. */
  fence: number;
  published: PublishedSession | undefined;
  /** It stays after its end: only `liveLease` tells whether it still counts. */
  lease: GrantedLease | undefined;
  failures: number;
  failure: RecordedFailure | undefined;
  /** When the last claim with a cool-down was granted. */
  cooledDownFromMs: number | undefined;
  readonly calls: CallWindow;
}

export function newMerchantRecord(): MerchantRecord {
  return {
    fence: 0,
    published: undefined,
    lease: undefined,
    failures: 0,
    failure: undefined,
    cooledDownFromMs: undefined,
    calls: new CallWindow(),
  };
}

/** A lease frees itself at its end. */
export function liveLease(record: MerchantRecord, nowMs: number): GrantedLease | undefined {
  return record.lease !== undefined && record.lease.endsAtMs > nowMs ? record.lease : undefined;
}
