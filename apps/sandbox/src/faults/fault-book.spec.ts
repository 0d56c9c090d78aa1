import { FaultBook } from './fault-book.js';
import { type FaultKind, readFault } from './fault.js';

const kindsMet = (book: FaultBook, merchant = 'shop'): readonly (FaultKind | undefined)[] => {
  const met = book.meet('authorize', merchant);
  return [met.time?.fault.kind, met.clock?.fault.kind, met.answer?.fault.kind];
};

describe('the book of faults', () => {
  let book: FaultBook;
  const set = (fault: object): number => book.add(readFault(fault)).id;

  beforeEach(() => {
    book = new FaultBook();
  });

  it('gives a call nothing when nothing is set', () => {
    expect(book.meet('authorize', 'shop')).toEqual({});
  });

  it('gives a call the oldest of each family', () => {
    set({ kind: 'hang' });
    set({ kind: 'drop' });
    set({ kind: 'latency', delayMs: 1 });
    set({ kind: 'hold' });
    set({ kind: 'clock_skew', skewMs: 1 });
    expect(kindsMet(book)).toEqual(['latency', 'clock_skew', 'hang']);
  });

  it('goes on to the next when one is used up, and keeps one without a number for good', () => {
    set({ kind: 'error', times: 2 });
    set({ kind: 'empty' });
    const met = Array.from({ length: 5 }, () => kindsMet(book)[2]);
    expect(met).toEqual(['error', 'error', 'empty', 'empty', 'empty']);
  });

  it('does not use up what is meant for another merchant or operation', () => {
    set({ kind: 'error', times: 1, merchant: 'other' });
    set({ kind: 'empty', times: 1, operation: 'echo' });
    expect(kindsMet(book)).toEqual([undefined, undefined, undefined]);
    expect(kindsMet(book, 'other')).toEqual([undefined, undefined, 'error']);
    expect(book.meet('echo', undefined).answer?.fault.kind).toBe('empty');
  });

  it('drops what is used up, but keeps a hold that may have to be released', () => {
    set({ kind: 'error', times: 1 });
    const hold = set({ kind: 'hold', times: 1 });
    kindsMet(book);
    expect(book.list().map(({ id }) => id)).toEqual([hold]);
    expect(kindsMet(book)).toEqual([undefined, undefined, undefined]);
  });

  it('lets held calls go in the order in which they came', async () => {
    const id = set({ kind: 'hold' });
    const order: number[] = [];
    const calls = [1, 2, 3].map(async (call) => {
      await book.meet('authorize', 'shop').time?.gate.pass();
      order.push(call);
    });
    expect(book.release(id, 2)).toBe(2);
    await Promise.all(calls.slice(0, 2));
    expect(order).toEqual([1, 2]);
    expect(book.clear(id)).toBe(true);
    await Promise.all(calls);
    expect(order).toEqual([1, 2, 3]);
  });

  it('holds nobody who reaches the gate after the fault was cleared', async () => {
    const id = set({ kind: 'hold' });
    const { time } = book.meet('authorize', 'shop');
    book.clear(id);
    await expect(time?.gate.pass()).resolves.toBeUndefined();
  });

  it('clears what was set for exactly the scope that is named, or all', () => {
    set({ kind: 'hang', merchant: 'shop' });
    set({ kind: 'hang', operation: 'authorize' });
    expect(book.clearAll({ operation: 'echo' })).toBe(0);
    expect(book.clearAll({ merchant: 'shop' })).toBe(1);
    expect(book.clearAll()).toBe(1);
    expect(book.release(1, 1)).toBeUndefined();
  });
});
