import type { StatusCause, StatusCondition, StatusCounts, StatusMerchant } from '../status-document.js';
import { type Headline, headlineOf } from './headline.js';
import { blocked, replica } from './played-status.js';

const none: StatusCounts = { unavailable: 0, foreign_authorizer: 0, dead: 0, stale: 0, failing: 0, fresh: 0 };
const store = { type: 'redis', condition: 'answers' } as const;
const silent: StatusCause = { text: 'The store does not answer', remedy: 'see Redis', runbook: 'store-down' };
const refused = (does: string): StatusCause => ({
  text: `${does}: the bank refuses: b_merchant_not_found`,
  remedy: 'ask the bank',
  runbook: 'access-refused',
});

const bad = (id: string, condition: StatusCondition, cause?: StatusCause): StatusMerchant => ({
  ...blocked(63_000),
  id,
  condition,
  ...(cause === undefined ? {} : { cause }),
});

const told = (counts: Partial<StatusCounts>, state: object = {}): Headline =>
  headlineOf({ store, replica, merchants: [], ...state }, { ...none, ...counts }, 3_000);

describe('the headline', () => {
  it.each<[string, Partial<StatusCounts>, object, Partial<Headline>]>([
    [
      'that one session is good',
      { fresh: 1 },
      {},
      { condition: 'fresh', text: 'The session is good', runbook: undefined },
    ],
    [
      'that the store is away, while all are good',
      { fresh: 2 },
      { store: { ...store, condition: 'silent', cause: silent } },
      {
        condition: 'failing',
        text: 'The store does not answer; all 2 sessions are good',
        detail: 'See Redis.',
        runbook: 'store-down',
      },
    ],
    [
      'what the replica says of the worst one, and how many others there are',
      { unavailable: 1, failing: 2, fresh: 5 },
      { merchants: [bad('shop', 'unavailable', refused('Payments fail')), bad('kiosk', 'failing', silent)] },
      {
        condition: 'unavailable',
        text: 'shop: Payments fail: the bank refuses: b_merchant_not_found',
        ending: '',
        detail: 'Ask the bank. Others: 2 failing · 5 fresh',
        runbook: 'access-refused',
      },
    ],
    [
      'how many have the same, and until when the first of them is good',
      { failing: 2 },
      { merchants: [bad('shop', 'failing', refused('Not renewed')), bad('kiosk', 'failing', refused('Not renewed'))] },
      {
        condition: 'failing',
        text: '2 merchants: Not renewed: the bank refuses: b_merchant_not_found',
        ending: '; the session of shop ends in 1 min 0 s',
        detail: 'Ask the bank.',
      },
    ],
    ['the condition, where nobody knows more', { stale: 1 }, {}, { text: '1 merchant: Stale', runbook: undefined }],
    [
      'that the replica is shutting down',
      { fresh: 1 },
      { replica: { ...replica, shuttingDown: true } },
      { condition: 'failing', detail: 'This replica is shutting down.' },
    ],
  ])('says %s', (...[, counts, state, expected]) => {
    expect(told(counts, state)).toMatchObject(expected);
  });
});
