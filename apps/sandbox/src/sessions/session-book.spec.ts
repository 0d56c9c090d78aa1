import { randomUUID } from 'node:crypto';
import { FakeClock } from '#libs/testing';
import { SessionBook } from './session-book.js';
import { generateKeyPair } from '../crypto/ec-key.js';
import { type Merchant, readMerchant } from '../merchants/merchant.js';

const publicJwk = generateKeyPair().jwk;
const merchant = (members: object = {}): Merchant =>
  readMerchant({ id: 'shop', serviceCode: randomUUID(), publicJwk, ...members });

describe('the book of sessions', () => {
  const clock = new FakeClock();
  let book: SessionBook;

  beforeEach(() => {
    book = new SessionBook(clock);
  });

  it('never gives two sessions anything in common', () => {
    const sessions = Array.from({ length: 20 }, () => book.create(merchant(), 1_000));
    for (const member of ['authToken', 'deviceId', 'refreshToken'] as const) {
      expect(new Set(sessions.map((session) => session[member])).size).toBe(20);
    }
    expect(new Set(sessions.map(({ serverKey }) => serverKey.jwk.x)).size).toBe(20);
  });

  it('ends the older session of a merchant that supersedes, after the grace of the first that came after it', async () => {
    const superseding = merchant({ supersedes: true, supersededGraceMs: 500 });
    const older = book.create(superseding, 60_000);
    book.create(superseding, 60_000);
    await clock.advance(499);
    book.create(superseding, 60_000);
    expect(book.standing(older)).toEqual({ state: 'live' });
    await clock.advance(1);
    expect(book.standing(older)).toEqual({ state: 'superseded', msgCode: 'b_session_doesnt_exist' });
  });

  it('ends no session of another merchant', () => {
    const mine = book.create(merchant({ supersedes: true }), 60_000);
    book.create(merchant({ id: 'other', supersedes: true }), 60_000);
    expect(book.standing(mine)).toEqual({ state: 'live' });
  });

  it('forgets the oldest of more than a thousand sessions of a merchant', () => {
    const first = book.create(merchant(), 1_000);
    const second = book.create(merchant(), 1_000);
    for (let count = 0; count < 999; count += 1) book.create(merchant(), 1_000);
    expect(book.byDevice(first.deviceId)).toBeUndefined();
    expect(book.byDevice(second.deviceId)).toBe(second);
    expect(book.list('shop')).toHaveLength(1_000);
  });
});
