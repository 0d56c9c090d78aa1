import { isDeepStrictEqual } from 'node:util';
import type { ClaimRequest, MomentMark, StoredSession } from '#libs/session';
import { identityOf, SpecifiedStore } from '../protocol/specified-store.js';
import type { AppliedCall, StoreCall } from './store-calls.js';

/** The specification counts in milliseconds; sums of fractions differ in their last digits. */
const PARTS_OF_MS = 1_000;

type Applied = Pick<AppliedCall, 'result'>;

/**
 * The specification of the store, taking each step alongside the store under test. Marks are names that each of the two
 * gives in its own way: they are paired as they appear, and a watched mark is given to each by its own name.
 */
export class SpecifiedSteps {
  #store = new SpecifiedStore();
  readonly #marks = new Map<string, MomentMark>();
  #latestMs = -Infinity;
  #wasSetBack = false;

  /** Forgets what was taken, so that some of it can be replayed: the same steps give the same marks. */
  startOver(): void {
    this.#store = new SpecifiedStore();
  }

  /** Takes a step. @returns a check of what the store under test made of it, which says how it differs */
  take(call: StoreCall, nowMs: number): (tested: Applied) => string | undefined {
    const specified = this.#answer(call, nowMs);
    this.#wasSetBack ||= nowMs < this.#latestMs;
    this.#latestMs = Math.max(this.#latestMs, nowMs);
    return ({ result }) => {
      if (call.operation === 'seat') {
        return this.#store.seat(call.args[0], result as number) ? undefined : 'the seat is not free';
      }
      if (call.operation === 'enrol' || call.operation === 'announce') return undefined;
      // A list is a hint: the order of moments on a clock that was set back is left to the store.
      if (call.operation === 'due' && this.#wasSetBack) return undefined;
      if (call.operation === 'claim') this.#pairMarks(call.args[0].merchant, result, specified);
      if (call.operation === 'read') this.#pairStates(result, specified);
      const [tested, expected] = [comparable(result), comparable(specified)];
      if (isDeepStrictEqual(tested, expected)) return undefined;
      return `${call.operation} was answered ${JSON.stringify(tested)}, not ${JSON.stringify(expected)}`;
    };
  }

  #answer(call: StoreCall, nowMs: number): unknown {
    switch (call.operation) {
      case 'enrol':
        return this.#store.enrol(call.args[0], nowMs);
      case 'seat':
      case 'announce':
        return undefined;
      case 'due':
        return this.#store.due(call.args[0], nowMs);
      case 'claim':
        return this.#store.claim(this.#translated(call.args[0]), nowMs, { wallMs: Math.floor(nowMs) });
      case 'publish':
        return this.#store.publish(call.args[0], call.args[1], nowMs);
      case 'offer':
        return this.#store.offer(call.args[0], nowMs);
      case 'release':
        return this.#store.release(call.args[0], call.args[1], nowMs);
      case 'condemn':
        return this.#store.condemn(...call.args);
      case 'reportDead':
        return this.#store.reportDead(...call.args, nowMs);
      case 'read': {
        const [wanted] = call.args;
        const states = wanted.map(({ merchant, known }) => ({ merchant, ...this.#store.read(merchant, known, nowMs) }));
        return { states };
      }
    }
  }

  #translated({ watched, ...request }: ClaimRequest): ClaimRequest {
    if (watched === undefined) return request;
    return { ...request, watched: this.#marks.get(`${request.merchant}/${watched}`) ?? watched };
  }

  #pairStates(tested: unknown, specified: unknown): void {
    const [ours, theirs] = [tested, specified] as { states: { merchant: string; dueMark?: MomentMark }[] }[];
    for (const [place, { merchant, dueMark }] of (ours?.states ?? []).entries()) {
      const expected = theirs?.states[place]?.dueMark;
      if (dueMark !== undefined && expected !== undefined) this.#marks.set(`${merchant}/${dueMark}`, expected);
    }
  }

  #pairMarks(merchant: string, tested: unknown, specified: unknown): void {
    const [ours, theirs] = [tested, specified] as { mark?: MomentMark }[];
    if (ours?.mark !== undefined && theirs?.mark !== undefined)
      this.#marks.set(`${merchant}/${ours.mark}`, theirs.mark);
  }
}

/** The same shape for both: sessions by what identifies them, marks by whether there is one. */
function comparable(answer: unknown): unknown {
  return JSON.parse(
    JSON.stringify(answer, (name, value: unknown) => {
      if (name === 'now') return undefined;
      if (name === 'mark' || name === 'dueMark') return typeof value;
      if (name === 'stored') return told(value as StoredSession);
      return typeof value === 'number' ? Math.round(value * PARTS_OF_MS) / PARTS_OF_MS : value;
    }),
    withoutNegativeZero,
  );
}

function told(stored: StoredSession): unknown {
  if (stored.kind !== 'session' || !('session' in stored)) return stored;
  const { session, ageMs } = stored;
  return { kind: 'session', generation: session.generation, identity: identityOf(session), ageMs };
}

/** A rounded negative is a negative zero, which is not zero to `isDeepStrictEqual`. */
function withoutNegativeZero(_name: string, value: unknown): unknown {
  return Object.is(value, -0) ? 0 : value;
}
