import { BrokerError } from '#libs/errors';
import type { Operation } from '../calls/call-log.js';
import { familyOf, type Fault, type FaultFamily } from './fault.js';

interface Entry {
  readonly id: number;
  readonly fault: Fault;
  readonly gate: Gate;
  used: number;
}

/** A fault that a call has met. */
export interface MetFault {
  readonly fault: Fault;
  /** Where the call waits if the fault is a hold. */
  readonly gate: Gate;
}

export type MetFaults = Readonly<Partial<Record<FaultFamily, MetFault>>>;

export interface FaultScope {
  readonly operation?: Operation | undefined;
  readonly merchant?: string | undefined;
}

const MAX_FAULTS = 1_000;

/** The faults that were requested, oldest first. */
export class FaultBook {
  readonly #entries = new Map<number, Entry>();
  #lastId = 0;

  /** @throws BrokerError `invalid_request` when there are too many to keep */
  add(fault: Fault): { readonly id: number } {
    if (this.#entries.size >= MAX_FAULTS) {
      throw new BrokerError('invalid_request', { publicDetail: `there are ${MAX_FAULTS} faults: clear some first` });
    }
    const entry = { id: (this.#lastId += 1), fault, gate: new Gate(), used: 0 };
    this.#entries.set(entry.id, entry);
    return describeFault(entry);
  }

  /**
   * The oldest fault of each family that applies to this call. Each counts as used by it, whether its effect shows or
   * not.
   */
  meet(operation: Operation, merchant: string | undefined): MetFaults {
    const met: Partial<Record<FaultFamily, MetFault>> = {};
    for (const entry of this.#entries.values()) {
      const family = familyOf(entry.fault.kind);
      if (met[family] !== undefined || isUsedUp(entry) || !isMeantFor(entry.fault, operation, merchant)) continue;
      met[family] = { fault: entry.fault, gate: entry.gate };
      entry.used += 1;
      // A used-up hold stays until it is cleared; otherwise no one could release the calls waiting behind it.
      if (isUsedUp(entry) && entry.fault.kind !== 'hold') this.#entries.delete(entry.id);
    }
    return met;
  }

  list(): readonly { readonly id: number }[] {
    return [...this.#entries.values()].map(describeFault);
  }

  /**
   * Releases calls that a hold keeps, longest waiting first. @returns how many, or undefined if there is no such fault
   */
  release(id: number, count: number): number | undefined {
    return this.#entries.get(id)?.gate.release(count);
  }

  /** Removes the fault and releases the calls that it holds. */
  clear(id: number): boolean {
    this.#entries.get(id)?.gate.open();
    return this.#entries.delete(id);
  }

  /** Removes every fault that was set for exactly this scope; without a scope, all. @returns how many */
  clearAll(scope: FaultScope = {}): number {
    const chosen = [...this.#entries.values()].filter(
      ({ fault }) =>
        (scope.operation === undefined || scope.operation === fault.operation) &&
        (scope.merchant === undefined || scope.merchant === fault.merchant),
    );
    for (const { id } of chosen) this.clear(id);
    return chosen.length;
  }
}

function isUsedUp({ fault, used }: Entry): boolean {
  return fault.times !== undefined && used >= fault.times;
}

function isMeantFor(fault: Fault, operation: Operation, merchant: string | undefined): boolean {
  return (
    (fault.operation === undefined || fault.operation === operation) &&
    (fault.merchant === undefined || fault.merchant === merchant)
  );
}

/** As control requests see it: how many calls met it, and how many it is holding at the moment. */
function describeFault({ id, fault, used, gate }: Entry) {
  return { id, ...fault, used, waiting: gate.waiting };
}

/** Where calls wait until they are released. */
class Gate {
  readonly #waiting: (() => void)[] = [];
  #isOpen = false;

  get waiting(): number {
    return this.#waiting.length;
  }

  pass(): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Releases the first `count`. @returns how many there were */
  release(count: number): number {
    const released = this.#waiting.splice(0, count);
    for (const resolve of released) resolve();
    return released.length;
  }

  /** From now on, no call waits. */
  open(): void {
    this.#isOpen = true;
    this.release(this.#waiting.length);
  }
}
