import type { StatusMerchant } from '../status-document.js';
import { onlyWaits, whenText } from './remedy.js';

const reported: StatusMerchant = {
  id: 'shop',
  required: true,
  environment: 'production',
  condition: 'reported_dead',
  reason: 'current',
  session: { generation: 1, createdAt: 0, renewAt: 800, mustRenewAt: 950, expiresAt: 1_000 },
  renewing: false,
  budgetSpent: false,
  renewalBlocked: false,
};
const cause = (runbook: string): Pick<StatusMerchant, 'cause'> => ({ cause: { text: 'why', runbook } });

describe('the words before the command that renews', () => {
  it.each<[string, string, Partial<StatusMerchant>]>([
    ['nothing is in its way', 'To replace it:', cause('rejection-storm')],
    [
      'the store is',
      'When it is fixed and the store works again:',
      { ...cause('rejection-storm'), renewalBlocked: true },
    ],
    ['the bank refuses', 'When it is fixed:', cause('access-refused')],
    ['somebody else creates', 'When it is gone:', { ...cause('foreign-authorizer'), condition: 'foreign_authorizer' }],
  ])('are of a session that is reported dead, where %s: %s', (_what, words, facts) => {
    expect(whenText({ ...reported, ...facts }, 0)).toBe(words);
  });
});

describe('a merchant with no create call left', () => {
  it('only waits for one where it has no fresh session and no attempt has failed', () => {
    const ended = { ...reported, condition: 'unavailable', budgetSpent: true } as const;
    expect(onlyWaits(ended, 0)).toBe(true);
    expect(onlyWaits({ ...ended, failure: { at: 0, kind: 'transient' } }, 0)).toBe(false);
    expect(onlyWaits({ ...ended, retryAt: 60_000 }, 0)).toBe(true);
    expect(onlyWaits({ ...ended, condition: 'stale' }, 0)).toBe(true);
    expect(onlyWaits({ ...ended, condition: 'fresh' }, 960)).toBe(true);
    expect(onlyWaits({ ...ended, budgetSpent: false, retryAt: 60_000 }, 0)).toBe(false);
    expect(onlyWaits({ ...reported, budgetSpent: true }, 0)).toBe(false);
  });
});

describe('a merchant whose next attempt comes by itself', () => {
  const ended = { ...reported, condition: 'unavailable' } as const;

  it('waits for it while it is under way, and where it is due at once or within seconds', () => {
    expect(onlyWaits({ ...ended, renewing: true, retryAt: 60_000 }, 0)).toBe(true);
    expect(onlyWaits(ended, 0)).toBe(true);
    expect(onlyWaits({ ...ended, retryAt: 4_000 }, 0)).toBe(true);
    expect(onlyWaits({ ...ended, condition: 'stale', retryAt: 4_000 }, 0)).toBe(true);
    expect(onlyWaits({ ...ended, retryAt: 5_000 }, 0)).toBe(false);
  });

  it('is to be renewed by hand when what failed is fixed, and where nobody replaces what is reported dead', () => {
    expect(onlyWaits({ ...ended, renewing: true, failure: { at: 0, kind: 'refused' } }, 0)).toBe(false);
    expect(onlyWaits(reported, 0)).toBe(false);
    expect(onlyWaits({ ...reported, renewing: true }, 0)).toBe(true);
  });
});
