import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { RedisKeys } from './redis-layout.js';
import { batchesBy, inTurn } from './redis-script.js';
import { prelude } from './scripts/prelude.lua.js';
import { operationScripts } from './scripts/probe.lua.js';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/reference/redis-keys.md'), 'utf8');

/** The rows of the table below a heading, each as its cells, with names stripped of code marks. */
function tableBelow(heading: string): string[][] {
  const [, rest = ''] = page.split(`\n## ${heading}\n`);
  const lines = /(?:^\|.*\n)+/m.exec(rest)?.[0].trimEnd().split('\n') ?? [];
  return lines.slice(2).map((line) => {
    const [name = '', ...cells] = line.split('|').slice(1, -1);
    return [name.replaceAll('`', '').trim(), ...cells.map((cell) => cell.trim())];
  });
}

describe('docs/reference/redis-keys.md', () => {
  it('names the keys as they are made', () => {
    const keys = new RedisKeys('p', { kind: 'single' });
    const { merchant, calls, due } = keys.of('<id>', 0);
    const named = tableBelow('What lies there').map(([name = '']) => `p${name.replace('{n}', '{0}')}`);
    expect(named).toEqual([merchant, calls, due, keys.channel]);
  });

  it('has each field that a script reads, and no other', () => {
    const lists = [prelude, ...operationScripts.map(({ body }) => body)].flatMap((lua) =>
      [...lua.matchAll(/\b(?:NAMES|TEXTS)\b.* = \{ ('.*?) \}/g)].map(([, names = '']) => names),
    );
    const read = lists.join().match(/\w+/g) ?? [];
    const fields = tableBelow("The fields of a merchant's hash").map(([field]) => field);
    expect(fields.toSorted()).toEqual(read.toSorted());
  });
});

describe('RedisKeys', () => {
  it('puts all keys of a merchant and its due moments under one hash tag, whatever the merchant is called', () => {
    const keys = new RedisKeys('broker', { kind: 'cluster' });
    fc.assert(
      fc.property(fc.string(), (merchant) => {
        const tag = `broker:{${keys.shardOf(merchant)}}:`;
        expect(Object.values(keys.of(merchant)).every((key) => key.startsWith(tag))).toBe(true);
      }),
    );
  });

  it('spreads merchants evenly enough over the shards', () => {
    const keys = new RedisKeys('broker', { kind: 'cluster' });
    const counts = new Map<number, number>();
    for (let index = 0; index < 16_000; index += 1) {
      const shard = keys.shardOf(`merchant-${index}`);
      counts.set(shard, (counts.get(shard) ?? 0) + 1);
    }
    expect(counts.size).toBe(16);
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(250);
  });

  it('keeps a merchant in its shard for ever: stored data depends on it', () => {
    const keys = new RedisKeys('broker', { kind: 'cluster' });
    expect(['shop', 'second', 'żółw'].map((merchant) => keys.shardOf(merchant))).toEqual([9, 13, 6]);
  });

  it.each(['', 'a{b', 'a}b', 'x'.repeat(201)])('refuses the prefix "%s"', (prefix) => {
    expect(() => new RedisKeys(prefix, { kind: 'single' })).toThrow('configuration');
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
