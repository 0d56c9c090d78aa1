import { plusMs } from '#libs/clock';
import { FakeClock } from '#libs/testing';
import type { Caller } from './caller.js';
import { VerifiedTokens } from './verified-tokens.js';

describe('VerifiedTokens', () => {
  const clock = new FakeClock();
  const caller = (name: string, ms = 1_000): Caller => ({ name, validUntil: plusMs(clock.now(), ms) });

  it('knows a token until it expires, and not a moment longer', async () => {
    const tokens = new VerifiedTokens(clock);
    tokens.remember('a', caller('one'));
    await clock.advance(999);
    expect(tokens.find('a')?.name).toBe('one');
    await clock.advance(1);
    expect(tokens.find('a')).toBeUndefined();
    expect(tokens.size).toBe(0);
  });

  it('holds a bounded number, and lets the least used go first', () => {
    const tokens = new VerifiedTokens(clock, 2);
    tokens.remember('a', caller('one'));
    tokens.remember('b', caller('two'));
    tokens.find('a');
    tokens.remember('c', caller('three'));
    expect(['a', 'b', 'c'].map((digest) => tokens.find(digest)?.name)).toEqual(['one', undefined, 'three']);
  });

  it('never remembers a caller without an end', () => {
    const tokens = new VerifiedTokens(clock);
    tokens.remember('a', { name: 'one' });
    expect(tokens.find('a')).toBeUndefined();
  });

  it('forgets all of them at once', () => {
    const tokens = new VerifiedTokens(clock);
    tokens.remember('a', caller('one'));
    tokens.forgetAll();
    expect(tokens.find('a')).toBeUndefined();
  });
});
