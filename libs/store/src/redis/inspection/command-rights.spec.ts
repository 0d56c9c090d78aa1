import { RedisKeys } from '../redis-layout.js';
import { prelude } from '../scripts/prelude.lua.js';
import { operationScripts, probeScript } from '../scripts/probe.lua.js';
import { rightsOn } from './command-rights.js';

const texts = [prelude, probeScript.body, ...operationScripts.map(({ body }) => body)];
const keys = new RedisKeys('broker', 1);
const rights = rightsOn(keys, 'shop');

describe('the rights that are asked for', () => {
  it('cover every command that a script of the store runs', () => {
    const run = texts.flatMap((lua) => [...lua.matchAll(/redis\.p?call\('([A-Z]+)'/g)].map(([, name]) => name));
    expect(run.length).toBeGreaterThan(20);
    const asked = new Set(rights.map(([command]) => command));
    expect(run.filter((command) => !asked.has(command ?? ''))).toEqual([]);
  });

  it('cover every kind of key, and the channel', () => {
    const { merchant, calls, due } = keys.of('shop');
    const operands = new Set(rights.flat());
    for (const target of [merchant, calls, due, keys.inShard(0, '~probe').merchant, keys.channel])
      expect(operands).toContain(target);
  });
});
