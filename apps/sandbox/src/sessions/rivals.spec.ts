import { randomUUID } from 'node:crypto';
import { FakeClock } from '#libs/testing';
import { CallLog } from '../calls/call-log.js';
import { generateKeyPair } from '../crypto/ec-key.js';
import { MerchantBook } from '../merchants/merchant-book.js';
import { readMerchant } from '../merchants/merchant.js';
import { defaultSettings } from '../settings.js';
import { Waiting } from '../wire/waiting.js';
import { Rivals } from './rivals.js';
import { SessionBook } from './session-book.js';

describe('rivals', () => {
  let clock: FakeClock;
  let merchants: MerchantBook;
  let sessions: SessionBook;
  let rivals: Rivals;

  beforeEach(() => {
    clock = new FakeClock();
    const publicJwk = generateKeyPair().jwk;
    merchants = new MerchantBook([readMerchant({ id: 'shop', serviceCode: randomUUID(), publicJwk })]);
    sessions = new SessionBook(clock);
    const calls = new CallLog(clock, 10);
    rivals = new Rivals({ merchants, sessions, calls, settings: { ...defaultSettings }, waiting: new Waiting(clock) });
  });

  it('are replaced, not joined, by the next one of the same merchant', async () => {
    rivals.start('shop', { times: 100, everyMs: 1_000 });
    rivals.start('shop', { times: 2, everyMs: 1_000 });
    await clock.advance(60_000);
    expect(sessions.list('shop')).toHaveLength(3);
  });

  it('stop when their merchant is removed', async () => {
    rivals.start('shop', { times: 100, everyMs: 1_000 });
    merchants.remove('shop');
    await clock.advance(60_000);
    expect(sessions.list()).toHaveLength(1);
    expect(clock.pendingTasks).toBe(0);
  });
});
