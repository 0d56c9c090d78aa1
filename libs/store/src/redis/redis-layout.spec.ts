import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RedisKeys } from './redis-keys.js';
import { inClear, layoutKeys, merchantFields } from './redis-layout.js';
import { prelude } from './scripts/prelude.lua.js';
import { operationScripts } from './scripts/probe.lua.js';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/redis.md'), 'utf8');

/** The rows of the table below a heading, each as its cells, with names stripped of code marks. */
function tableBelow(heading: string): string[][] {
  const [, rest = ''] = page.split(`\n## ${heading}\n`);
  const lines = /(?:^\|.*\n)+/m.exec(rest)?.[0].trimEnd().split('\n') ?? [];
  return lines.slice(2).map((line) => {
    const [name = '', ...cells] = line.split('|').slice(1, -1);
    return [name.replaceAll('`', '').trim(), ...cells.map((cell) => cell.trim())];
  });
}

/** The calls of a command in a script, with their complete parameter lists. */
function callsOf(command: string, lua: string): string[] {
  return lua
    .split(`redis.call('${command}'`)
    .slice(1)
    .map((rest) => {
      let depth = 1;
      const end = [...rest].findIndex((character) => {
        depth += character === '(' ? 1 : character === ')' ? -1 : 0;
        return depth === 0;
      });
      return rest.slice(0, end);
    });
}

/** The quoted words that are names of fields, not values such as '1'. */
const namesIn = (text: string): string[] => [...text.matchAll(/'([A-Za-z]\w*)'/g)].map(([, name]) => name ?? '');

const dueFields = namesIn(callsOf('HSET', prelude).join());

/** What a script sets in the hash of a merchant, by itself or through a function that all scripts share. */
function setBy({ body }: { readonly body: string }): string[] {
  return [...callsOf('HSET', body).flatMap(namesIn), ...(body.includes('fall_due(') ? dueFields : [])];
}

describe('the layout in Redis', () => {
  it('names the keys as they are made', () => {
    const keys = new RedisKeys('p', 1);
    const { merchant, calls, due } = keys.inShard(0, '<id>');
    const made = [merchant, calls, due, keys.seats, keys.sighting('<id>', '<digest>'), keys.channel];
    const named = Object.keys(layoutKeys).map((name) => `p${name.replace('{n}', '{0}')}`);
    expect(named).toEqual(made);
  });

  it('has each field that a script sets, with the scripts that set it, and no other', () => {
    const setters = new Map<string, string[]>();
    for (const script of operationScripts.filter(({ name }) => name !== 'seat')) {
      for (const field of new Set(setBy(script))) setters.set(field, [...(setters.get(field) ?? []), script.name]);
    }
    const declared = Object.entries(merchantFields).map(([field, by]) => [field, by.setBy.toSorted()]);
    expect(Object.fromEntries([...setters].map(([field, names]) => [field, names.toSorted()]))).toEqual(
      Object.fromEntries(declared),
    );
  });

  it('has each field that a script takes away or looks at', () => {
    const texts = [prelude, ...operationScripts.map(({ body }) => body)];
    const named = texts.flatMap((lua) => [
      ...callsOf('HDEL', lua).flatMap(namesIn),
      ...[...lua.matchAll(/\b(?:fields|texts)\.(\w+)/g)].map(([, name]) => name ?? ''),
    ]);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((name) => !(name in merchantFields))).toEqual([]);
  });
});

describe('docs/redis.md', () => {
  it('has the keys of the layout, and no others', () => {
    const rows = Object.entries(layoutKeys).map(([name, { type, holds }]) => [name, type, holds]);
    expect(tableBelow('What lies there')).toEqual(rows);
  });

  it('has the fields of the layout, and no others', () => {
    const rows = Object.entries(merchantFields).map(([name, field]) => [name, field.holds, field.setBy.join(', ')]);
    expect(tableBelow("The fields of a merchant's hash")).toEqual(rows);
  });

  it('tells of each key and each field what a reader of Redis learns from it', () => {
    const places = [...Object.keys(layoutKeys), ...Object.keys(merchantFields)];
    expect(new Set(Object.values(inClear).flat())).toEqual(new Set(places));
    const rows = Object.entries(inClear).map(([what, where]) => [
      what,
      where.map((place) => `\`${place}\``).join(', '),
    ]);
    expect(tableBelow('What a reader of Redis learns').map(([what, ...rest]) => [what, ...rest])).toEqual(
      rows.map(([what = '', ...rest]) => [what.replaceAll('`', ''), ...rest]),
    );
  });
});
