import type { StatusMerchant, StatusSession } from '../status-document.js';
import { conditionAt, conditionName, countConditions, lifeAt } from './condition.js';

const session: StatusSession = { generation: 1, createdAt: 0, renewAt: 800, mustRenewAt: 950, expiresAt: 1_000 };

const aMerchant = (overrides: Partial<StatusMerchant> = {}): StatusMerchant => ({
  id: 'shop',
  required: true,
  environment: 'production',
  condition: 'fresh',
  reason: 'current',
  session,
  renewing: false,
  budgetSpent: false,
  renewalBlocked: false,
  ...overrides,
});

describe('the condition of a merchant on the page', () => {
  it('gets worse as time passes, even without news', () => {
    const merchant = aMerchant();
    expect([0, 799, 800, 949, 950, 999, 1_000].map((now) => conditionAt(merchant, now))).toEqual([
      'fresh',
      'fresh',
      'renewing',
      'renewing',
      'stale',
      'stale',
      'unavailable',
    ]);
  });

  it('is not that of a renewal under way while the store keeps it waiting', () => {
    const waiting = aMerchant({ renewalBlocked: true });
    expect([799, 800, 950].map((now) => conditionAt(waiting, now))).toEqual(['fresh', 'held_back', 'stale']);
    expect(conditionAt({ ...waiting, renewing: true }, 800)).toBe('renewing');
    expect(conditionAt({ ...waiting, condition: 'renewing' }, 0)).toBe('held_back');
  });

  it('is never better than the replica said, whatever the page makes of the time', () => {
    for (const condition of [
      'unavailable',
      'stale',
      'foreign_authorizer',
      'reported_dead',
      'likely_dead',
      'unshared',
      'watched',
      'failing',
      'renewing',
    ] as const) {
      expect(conditionAt(aMerchant({ condition }), 0)).toBe(condition);
    }
    expect(conditionAt(aMerchant({ condition: 'failing' }), 960)).toBe('stale');
  });

  it('stays what payments fail of, or may fail of again, however little is left of the session', () => {
    for (const condition of ['foreign_authorizer', 'reported_dead', 'likely_dead', 'unshared', 'watched'] as const) {
      expect([960, 1_000].map((now) => conditionAt(aMerchant({ condition }), now))).toEqual([condition, 'unavailable']);
    }
  });

  it('tells a session that has expired from none', () => {
    const { session: _session, ...none } = aMerchant({ condition: 'unavailable' });
    expect(conditionName(none, 0)).toBe('No session');
    expect(conditionName(aMerchant(), 1_000)).toBe('Expired');
    expect(conditionName(aMerchant(), 0)).toBe('Fresh');
  });

  it('is counted', () => {
    const merchants = [aMerchant(), aMerchant(), aMerchant({ condition: 'stale' })];
    expect(countConditions(merchants, 0)).toEqual({
      unavailable: 0,
      stale: 1,
      foreign_authorizer: 0,
      reported_dead: 0,
      likely_dead: 0,
      unshared: 0,
      watched: 0,
      held_back: 0,
      failing: 0,
      renewing: 0,
      fresh: 2,
    });
    expect(countConditions(merchants, 1_000)).toMatchObject({ unavailable: 3, fresh: 0 });
  });
});

describe('the life of a session on the page', () => {
  it('runs from full to empty, with renewal and margin at their places from the end', () => {
    expect(lifeAt(aMerchant(), 250)).toEqual({ leftMs: 750, lifetimeMs: 1_000, left: 0.75, renew: 0.2, margin: 0.05 });
    expect(lifeAt(aMerchant(), 0)).toMatchObject({ left: 1 });
  });

  it('is neither negative nor more than full, whatever the clocks say', () => {
    expect(lifeAt(aMerchant(), 5_000)).toMatchObject({ leftMs: 0, left: 0 });
    expect(lifeAt(aMerchant(), -5_000)).toMatchObject({ left: 1 });
    expect(lifeAt(aMerchant({ session: { ...session, expiresAt: 0 } }), 0)).toMatchObject({ left: 0, lifetimeMs: 1 });
  });
});
