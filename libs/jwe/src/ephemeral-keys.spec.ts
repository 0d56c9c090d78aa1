import type { webcrypto } from 'node:crypto';
import { jest } from '@jest/globals';
import { eventually } from '#libs/testing';
import { EphemeralKeys } from './ephemeral-keys.js';

describe('ephemeral keys', () => {
  let made: jest.SpiedFunction<typeof crypto.subtle.generateKey>;
  beforeEach(() => {
    made = jest.spyOn(crypto.subtle, 'generateKey');
  });
  afterEach(() => made.mockRestore());

  /** Waits until nothing is generated any more: everything begun has ended, and nothing new has begun since. */
  const settled = async (): Promise<void> => {
    for (let begun = -1; begun !== made.mock.calls.length;) {
      begun = made.mock.calls.length;
      await Promise.allSettled(made.mock.results.map(({ value }) => value as Promise<unknown>));
      await new Promise((resolve) => setImmediate(resolve));
    }
  };

  it('are eight ahead of the one that is taken, and are replaced as they are taken', async () => {
    const keys = new EphemeralKeys();
    await keys.take();
    await settled();
    expect(made).toHaveBeenCalledTimes(9);
    for (let taken = 1; taken <= 20; taken += 1) {
      await keys.take();
      await settled();
      expect(made).toHaveBeenCalledTimes(9 + taken);
    }
  });

  it('are taken from those that are ready', async () => {
    const keys = new EphemeralKeys();
    await keys.take();
    await settled();
    const ready = await Promise.all(
      made.mock.results.map(async ({ value }) => ((await value) as webcrypto.CryptoKeyPair).privateKey),
    );
    expect(ready).toContain((await keys.take()).privateKey);
  });

  it('are made at once for a seal that finds none ready, however many fail while no seal waits for them', async () => {
    const keys = new EphemeralKeys();
    made.mockRejectedValue(new Error('no randomness, on purpose'));
    await expect(keys.take()).rejects.toThrow('no randomness');
    await settled();
    made.mockRestore();
    made = jest.spyOn(crypto.subtle, 'generateKey');
    await expect(keys.take()).resolves.toMatchObject({
      privateKey: { type: 'private', extractable: false, usages: ['deriveBits'] },
    });
    await eventually(() => made.mock.calls.length === 9);
  });
});
