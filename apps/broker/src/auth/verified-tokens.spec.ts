import { plusMs } from '#libs/clock';
import { FakeClock } from '#libs/testing';
import { type VerifiedToken, VerifiedTokens } from './verified-tokens.js';

describe('VerifiedTokens', () => {
  const clock = new FakeClock();
  const published = new Set(['key']);
  const keys = { has: (key: string): boolean => published.has(key) };
  const token = (name: string, key = 'key'): VerifiedToken => ({
    caller: { name, validUntil: plusMs(clock.now(), 1_000) },
    key,
  });

  it('knows a token until it expires, and not a moment longer', async () => {
    const tokens = new VerifiedTokens({ clock, keys });
    tokens.remember('a', token('one'));
    await clock.advance(999);
    expect(tokens.find('a')?.name).toBe('one');
    await clock.advance(1);
    expect(tokens.find('a')).toBeUndefined();
    expect(tokens.size).toBe(0);
  });

  it('holds a bounded number, and lets the least used go first', () => {
    const tokens = new VerifiedTokens({ clock, keys, max: 2 });
    tokens.remember('a', token('one'));
    tokens.remember('b', token('two'));
    tokens.find('a');
    tokens.remember('c', token('three'));
    expect(['a', 'b', 'c'].map((digest) => tokens.find(digest)?.name)).toEqual(['one', undefined, 'three']);
  });

  it('never remembers a caller without an end', () => {
    const tokens = new VerifiedTokens({ clock, keys });
    tokens.remember('a', { caller: { name: 'one' }, key: 'key' });
    expect(tokens.find('a')).toBeUndefined();
  });

  it('knows a token only while its key is published', () => {
    const tokens = new VerifiedTokens({ clock, keys });
    published.add('leaving');
    tokens.remember('a', token('one', 'leaving'));
    tokens.remember('b', token('two'));
    published.delete('leaving');
    expect([tokens.find('a'), tokens.find('b')?.name]).toEqual([undefined, 'two']);
  });

  it('does not know a token whose check ended after its key had left', () => {
    const tokens = new VerifiedTokens({ clock, keys });
    tokens.remember('a', token('one', 'gone'));
    expect(tokens.find('a')).toBeUndefined();
  });

  it('takes over what was checked before, and asks the present keys', () => {
    const before = new VerifiedTokens({ clock, keys });
    before.remember('a', token('one'));
    before.remember('b', token('two', 'other'));
    const after = new VerifiedTokens({ clock, keys: { has: (key) => key === 'other' }, before });
    expect([after.find('a'), after.find('b')?.name]).toEqual([undefined, 'two']);
  });
});
