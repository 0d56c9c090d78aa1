import fc from 'fast-check';
import { batchesBy, inTurn } from './batch.js';
import { mergeDue, readDueReply } from './due-merge.js';
import { RedisKeys } from './redis-keys.js';

describe('RedisKeys', () => {
  it('puts all keys of a merchant and its due moments under one hash tag, whatever the merchant is called', () => {
    const keys = new RedisKeys('broker', 16);
    fc.assert(
      fc.property(fc.string(), (merchant) => {
        const tag = `broker:{${keys.shardOf(merchant)}}:`;
        expect(Object.values(keys.of(merchant)).every((key) => (key as string).startsWith(tag))).toBe(true);
      }),
    );
  });

  it('spreads merchants evenly enough over the shards', () => {
    const keys = new RedisKeys('broker', 16);
    const counts = new Map<number, number>();
    for (let index = 0; index < 16_000; index += 1) {
      const shard = keys.shardOf(`merchant-${index}`);
      counts.set(shard, (counts.get(shard) ?? 0) + 1);
    }
    expect(counts.size).toBe(16);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(250);
  });

  it('keeps a merchant in its shard for ever: stored data depends on it', () => {
    const keys = new RedisKeys('broker', 16);
    expect(['shop', 'second', 'żółw'].map((merchant) => keys.shardOf(merchant))).toEqual([9, 13, 6]);
  });

  it.each(['', 'a{b', 'a}b', 'x'.repeat(201)])('refuses the prefix "%s"', (prefix) => {
    expect(() => new RedisKeys(prefix, 1)).toThrow('configuration');
  });
});

describe('mergeDue', () => {
  it('lists over all shards what one sorted list would', () => {
    const shard = fc.array(fc.record({ merchant: fc.string(), dueInMs: fc.integer({ min: -9, max: 9 }) }));
    fc.assert(
      fc.property(fc.array(shard), fc.integer({ min: 1, max: 5 }), (shards, limit) => {
        const all = shards.flat().sort((a, b) => a.dueInMs - b.dueInMs);
        const dueCount = Math.min(limit, all.filter(({ dueInMs }) => dueInMs <= 0).length);
        const cut = shards.map((entries) => [...entries].sort((a, b) => a.dueInMs - b.dueInMs).slice(0, limit + 1));
        const merged = mergeDue(cut, limit);
        expect(merged.merchants).toEqual(all.slice(0, dueCount).map(({ merchant }) => merchant));
        const next = all[dueCount];
        expect(merged.nextDueInMs).toBe(next === undefined ? undefined : Math.max(0, next.dueInMs));
      }),
    );
  });

  it('reads the flat reply of the script', () => {
    expect(readDueReply([9, 'a', '-5', 'b', '7'])).toEqual({
      size: 9,
      entries: [
        { merchant: 'a', dueInMs: -5 },
        { merchant: 'b', dueInMs: 7 },
      ],
    });
  });
});

describe('batchesBy', () => {
  it('loses nothing, mixes no groups and keeps each batch small', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3_000), { maxLength: 2_000, size: 'max' }), (items) => {
        const batches = batchesBy(items, (item) => item % 3);
        for (const [key, batch] of batches) {
          expect(batch.length).toBeGreaterThan(0);
          expect(batch.length).toBeLessThanOrEqual(100);
          expect(batch.every((item) => item % 3 === key)).toBe(true);
        }
        const ordered = [0, 1, 2].flatMap((key) => items.filter((item) => item % 3 === key));
        const batched = [0, 1, 2].flatMap((key) => batches.flatMap(([of, batch]) => (of === key ? batch : [])));
        expect(batched).toEqual(ordered);
      }),
      { numRuns: 30 },
    );
  });
});

describe('inTurn', () => {
  it('does everything, never more than a few at a time', async () => {
    const done: number[] = [];
    let [running, most] = [0, 0];
    await inTurn(
      Array.from({ length: 50 }, (_, index) => index),
      async (item) => {
        most = Math.max(most, (running += 1));
        await Promise.resolve();
        running -= 1;
        done.push(item);
      },
    );
    expect(done.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => index));
    expect(most).toBe(4);
  });

  it('ends with the first failure', async () => {
    await expect(inTurn([1, 2, 3], (item) => Promise.reject(new Error(`failed ${item}`)))).rejects.toThrow('failed 1');
  });
});
