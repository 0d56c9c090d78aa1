import { BrokerError } from '#libs/errors';
import { type ClientKey, generateClientKey, importClientKey } from '#libs/jwe';
import type { Sighting } from '#libs/session';
import { MemorySessionStore } from '#libs/store';
import type { Logger } from '#libs/telemetry';
import { FakeClock } from '#libs/testing';
import type { ConfiguredMerchants } from '../renewal/configured-merchants.js';
import { Repetitions } from './repetitions.service.js';

const ABOUT = ['REFUND', 'e-1', 'SUCCESS'];

describe('notifications that come again', () => {
  let keys: readonly ClientKey[];
  let store: MemorySessionStore;
  let asked: Sighting[];
  let lines: string[];
  let failure: Error | undefined;

  const replica = (): Repetitions => {
    const sightings = {
      firstSeen: (sighting: Sighting): Promise<boolean> => {
        asked.push(sighting);
        return failure === undefined ? store.firstSeen(sighting) : Promise.reject(failure);
      },
    };
    const note = (_facts: object, line: string): number => lines.push(line);
    const logger = { info: note, warn: note } as unknown as Logger;
    return new Repetitions(sightings, { clientKeysOf: () => keys } as unknown as ConfiguredMerchants, logger);
  };
  const aKey = async (): Promise<ClientKey> => importClientKey((await generateClientKey()).privateJwk);

  beforeEach(async () => {
    keys = [await aKey()];
    store = new MemorySessionStore({ clock: new FakeClock() });
    [asked, lines, failure] = [[], [], undefined];
  });

  it('are told by whichever replica has them next, and for a day', async () => {
    expect(await replica().isRepeated('shop', ABOUT)).toBe(false);
    expect(await replica().isRepeated('shop', ABOUT)).toBe(true);
    expect(await replica().isRepeated('shop', ['REFUND', 'e-1', 'FAIL'])).toBe(false);
    expect(asked.map(({ forMs }) => forMs)).toEqual([86_400_000, 86_400_000, 86_400_000]);
  });

  it('are known to the store by nothing that says what they are about', async () => {
    await replica().isRepeated('shop', ABOUT);
    expect(asked[0]?.names).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
    expect(JSON.stringify(asked)).not.toContain('e-1');
  });

  it('are known again through a change of keys', async () => {
    await replica().isRepeated('shop', ABOUT);
    keys = [await aKey(), ...keys];
    expect(await replica().isRepeated('shop', ABOUT)).toBe(true);
    keys = keys.slice(0, 1);
    expect(await replica().isRepeated('shop', ABOUT)).toBe(true);
  });

  it('cannot be told while the store is silent or refuses, which is said once', async () => {
    const repetitions = replica();
    for (const code of ['store_unavailable', 'store_refused'] as const) {
      failure = new BrokerError(code);
      expect(await repetitions.isRepeated('shop', ABOUT)).toBeUndefined();
    }
    failure = undefined;
    expect(await repetitions.isRepeated('shop', ABOUT)).toBe(false);
    expect(lines).toHaveLength(2);
  });

  it('do not hide a mistake of ours', async () => {
    failure = new TypeError('a bug');
    await expect(replica().isRepeated('shop', ABOUT)).rejects.toThrow('a bug');
  });
});
