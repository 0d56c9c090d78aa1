import type { StatusMerchant, StatusSession } from '../status-document.js';
import { lifeAt } from './condition.js';

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
  renewals: [],
  ...overrides,
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
