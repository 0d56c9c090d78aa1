import { RedisKeys } from '../redis-keys.js';
import { claimScript } from '../scripts/claim.lua.js';
import { dueScript } from '../scripts/due.lua.js';
import { enrolScript } from '../scripts/enrol.lua.js';
import { publishScript } from '../scripts/publish.lua.js';
import { readScript } from '../scripts/read.lua.js';
import { releaseScript } from '../scripts/release.lua.js';
import { rightsOn } from './command-rights.js';

const scripts = [claimScript, dueScript, enrolScript, publishScript, readScript, releaseScript];
const keys = new RedisKeys('broker', 1);
const rights = rightsOn(keys, 'shop');

describe('the rights that are asked for', () => {
  it('cover every command that a script of the store runs', () => {
    const run = scripts.flatMap(({ lua }) => [...lua.matchAll(/redis\.call\('([A-Z]+)'/g)].map(([, name]) => name));
    expect(run.length).toBeGreaterThan(20);
    const asked = new Set(rights.map(({ command }) => command));
    expect(run.filter((command) => !asked.has(command ?? ''))).toEqual([]);
  });

  it('cover every kind of key, and the channel', () => {
    const { merchant, calls, due } = keys.of('shop');
    const targets = new Set(rights.map(({ target }) => target));
    for (const target of [merchant, calls, due, keys.probe(0), keys.channel]) expect(targets).toContain(target);
  });
});
