import { toRfc3339, type Clock } from '#libs/clock';

/** The payment operations; `order-operations` and `operation-…` ask what became of one. */
export const paymentOperations = [
  'create-order',
  'order-operations',
  'refund',
  'create-purchase',
  'execute-purchase',
  'create-preauth',
  'execute-preauth',
  'completion',
  'operation-by-request',
  'operation-by-id',
] as const;
export type PaymentOperationName = (typeof paymentOperations)[number];

export const operations = ['authorize', 'echo', 'decrypt', 'encrypt', ...paymentOperations] as const;
export type Operation = (typeof operations)[number];

/**
 * How a call ended: `success`; `refused` by the gateway itself; `fault` when a configured fault decided the answer;
 * `disconnected` when the caller left before the whole answer was handed over. `in_flight` until then.
 */
export type Outcome = 'in_flight' | 'success' | 'refused' | 'fault' | 'disconnected';

export interface CallRecord {
  /** Counts every call since the start or the last reset. */
  readonly sequence: number;
  /** When it arrived, by the sandbox's clock without any skew. */
  readonly at: string;
  readonly operation: Operation;
  readonly serviceCode?: string;
  readonly merchant?: string;
  readonly requestId: string;
  /** Calls for this operation and service code that were in flight when it arrived, including itself. */
  readonly inFlight: number;
  outcome: Outcome;
  faults: readonly string[];
  httpStatus?: number;
  msgCode?: string;
  durationMs?: number;
  /** The session that was created or presented; also set when its answer got lost on the way. */
  session?: number;
}

type CallStart = Pick<CallRecord, 'operation' | 'requestId'> & Partial<Pick<CallRecord, 'serviceCode' | 'merchant'>>;

export type CallEnd = Pick<CallRecord, 'outcome'> & Partial<Pick<CallRecord, 'httpStatus' | 'msgCode'>>;

export interface Call {
  readonly record: CallRecord;
  /** Only the first end counts. */
  end(end: CallEnd): void;
}

/** The calls that the gateway received, oldest first, in a ring; also notifies those who wait for the next event. */
export class CallLog {
  readonly #clock: Clock;
  readonly #capacity: number;
  readonly #listeners = new Set<() => void>();
  readonly #open = new Set<CallRecord>();
  #records: CallRecord[] = [];
  #total = 0;

  constructor(clock: Clock, capacity: number) {
    this.#clock = clock;
    this.#capacity = capacity;
  }

  begin(start: CallStart): Call {
    const startedAtMs = this.#clock.monotonicMs();
    const record: CallRecord = {
      sequence: (this.#total += 1),
      at: toRfc3339(this.#clock.now()),
      ...start,
      inFlight: this.#inFlight(start) + 1,
      outcome: 'in_flight',
      faults: [],
    };
    this.#open.add(record);
    this.#keep(record);
    this.#ring();
    const end = (end: CallEnd): void => {
      if (!this.#open.delete(record)) return;
      Object.assign(record, end, { durationMs: Math.round(this.#clock.monotonicMs() - startedAtMs) });
      this.#ring();
    };
    return { record, end };
  }

  /** Every call since the last reset, including those dropped from the ring. */
  get total(): number {
    return this.#total;
  }

  get inFlight(): number {
    return this.#open.size;
  }

  select(matches: (record: CallRecord) => boolean): readonly CallRecord[] {
    return this.#records.filter(matches);
  }

  /** Calls `listener` on each arrival, end and reset until the returned function is called. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  reset(): void {
    this.#records = [];
    this.#total = 0;
    this.#ring();
  }

  #inFlight({ operation, serviceCode }: CallStart): number {
    const alike = (record: CallRecord): boolean => record.operation === operation && record.serviceCode === serviceCode;
    return [...this.#open].filter(alike).length;
  }

  #keep(record: CallRecord): void {
    this.#records.push(record);
    // Cut in one go: shifting the whole ring on every call would cost more than the call.
    if (this.#records.length > this.#capacity * 2) this.#records = this.#records.slice(-this.#capacity);
  }

  #ring(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
