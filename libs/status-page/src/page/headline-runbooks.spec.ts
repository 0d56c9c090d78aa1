import type { StatusMerchant } from '../status-document.js';
import { countConditions } from './condition.js';
import { headlineOf } from './headline.js';
import { blocked, replica, silent } from './played-status.js';

const well = countConditions([], 0);
const refused = 'the bank refuses: b_merchant_not_found';

describe('the runbooks of the headline', () => {
  it('leads to what is said of somebody else who creates first, and then to the store that is away beside it', () => {
    const cause = { text: 'the store does not answer', runbook: 'store-down' };
    const foreign = { ...blocked(333_000), condition: 'foreign_authorizer' } as const;
    for (const merchants of [[], [foreign], [{ ...foreign, cause }]]) {
      const said = headlineOf({ store: silent, replica, merchants }, { ...well, foreign_authorizer: 1 }, 0);
      expect([said.runbook, said.also]).toEqual(['foreign-authorizer', 'store-down']);
    }
  });

  it('leads to the store first that is away, and then to somebody else who may still create', () => {
    const others = 'the store does not answer; somebody else created sessions until 00:01:00 UTC, and may again';
    const text = `${others} (runbook: foreign-authorizer)`;
    for (const condition of ['reported_dead', 'unavailable'] as const) {
      const dead = { ...blocked(1_000), condition, cause: { text, inHeadline: others, runbook: 'store-down' } };
      const said = headlineOf({ store: silent, replica, merchants: [dead] }, { ...well, [condition]: 1 }, 0);
      expect(said.text).toMatch(new RegExp(`: ${others}$`));
      expect([said.runbook, said.also]).toEqual(['store-down', 'foreign-authorizer']);
    }
  });

  it('leads to the runbook of a merchant without a session first, and then to that of another one whose payments fail', () => {
    const none = {
      ...blocked(0),
      condition: 'unavailable',
      cause: { text: refused, runbook: 'create-refused' },
    } as const;
    const dead = { ...blocked(9), condition: 'reported_dead', cause: { text: '', runbook: 'session-dead' } } as const;
    const ended = { ...blocked(9), condition: 'foreign_authorizer' } as const;
    const late = { ...blocked(9), cause: { text: refused, runbook: 'renewal-failing' } };
    const ledTo = (other: StatusMerchant): (string | undefined)[] => {
      const counts = { ...well, unavailable: 1, [other.condition]: 1 };
      const said = headlineOf(
        { store: { type: 'redis', condition: 'answers' }, replica, merchants: [none, other] },
        counts,
        0,
      );
      return [said.runbook, said.also];
    };
    expect(ledTo(dead)).toEqual(['create-refused', 'session-dead']);
    expect(ledTo(ended)).toEqual(['create-refused', 'foreign-authorizer']);
    expect(ledTo(late)).toEqual(['create-refused', undefined]);
  });
});
