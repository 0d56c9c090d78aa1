import {
  conditionColours,
  conditionOf,
  conditionWord,
  type MerchantCondition,
  merchantConditions,
} from './merchant-condition.js';
import type { ServeVerdict } from './serve-decision.js';

const CURRENT: ServeVerdict = { result: 'fresh', reason: 'current' };
const PAST_MARGIN: ServeVerdict = { result: 'stale', reason: 'past_margin' };

interface Facts {
  readonly verdict: ServeVerdict;
  readonly failed: boolean;
  readonly foreign: boolean;
  readonly watched: boolean;
  readonly reported: boolean;
  readonly lost: boolean;
  readonly unshared: boolean;
  readonly unopened: boolean;
  readonly heldBack: boolean;
  readonly stray: boolean;
  readonly renewing: boolean;
  readonly untilRenewalMs: number;
}

const nothing: Facts = {
  verdict: CURRENT,
  failed: false,
  foreign: false,
  watched: false,
  reported: false,
  lost: false,
  unshared: false,
  unopened: false,
  heldBack: false,
  stray: false,
  renewing: false,
  untilRenewalMs: 1,
};

function conditionIn(given: Partial<Facts>): MerchantCondition {
  const facts = { ...nothing, ...given };
  const replica = {
    held: { untilRenewalMs: () => facts.untilRenewalMs, unopened: () => (facts.unopened ? 13 : undefined) },
    failures: { get: () => (facts.failed ? { kind: 'refused', at: 0 } : undefined) },
    reader: { verdict: () => facts.verdict },
    isRenewing: () => facts.renewing,
    hasForeignAuthorizer: () => facts.foreign,
    watchedUntil: () => (facts.watched ? 1 : undefined),
    isReportedDead: () => facts.reported,
    isLikelyDead: () => facts.lost,
    isUnshared: () => facts.unshared,
    isHeldBack: () => facts.heldBack,
    strayKey: () => (facts.stray ? {} : undefined),
  };
  return conditionOf(replica as unknown as Parameters<typeof conditionOf>[0], 'shop');
}

const everything = {
  failed: true,
  foreign: true,
  reported: true,
  lost: true,
  unshared: true,
  heldBack: true,
  stray: true,
  renewing: true,
  untilRenewalMs: 0,
};
const noReport = { ...everything, foreign: false, reported: false };
const noneLost = { ...noReport, lost: false };
const shared = { ...noneLost, unshared: false };

describe('the condition of a merchant', () => {
  it.each<[Partial<Facts>, MerchantCondition]>([
    [{ ...everything, verdict: { result: 'unavailable', reason: 'no_session' } }, 'unavailable'],
    [{ ...everything, verdict: { result: 'unavailable', reason: 'expired' } }, 'unavailable'],
    [{ ...everything, verdict: PAST_MARGIN }, 'foreign_authorizer'],
    [{ ...everything, verdict: PAST_MARGIN, foreign: false }, 'reported_dead'],
    [{ ...noReport, verdict: PAST_MARGIN }, 'likely_dead'],
    [{ ...noneLost, verdict: PAST_MARGIN }, 'unshared'],
    [{ ...shared, verdict: PAST_MARGIN }, 'stale'],
    [everything, 'foreign_authorizer'],
    [{ ...everything, watched: true, verdict: PAST_MARGIN }, 'watched'],
    [{ ...everything, watched: true, verdict: { result: 'unavailable', reason: 'expired' } }, 'unavailable'],
    [{ ...everything, foreign: false }, 'reported_dead'],
    [noReport, 'likely_dead'],
    [noneLost, 'unshared'],
    [shared, 'held_back'],
    [{ ...shared, heldBack: false }, 'failing'],
    [{ unopened: true, stray: true, renewing: true }, 'failing'],
    [{ stray: true, renewing: true }, 'watched'],
    [{ renewing: true }, 'renewing'],
    [{ untilRenewalMs: 0 }, 'renewing'],
    [{}, 'fresh'],
  ])('is the worst that is true of it: %j', (facts, condition) => {
    expect(conditionIn(facts)).toBe(condition);
  });

  it('is red where payments fail or may fail now, and comes before all with which they go on', () => {
    expect(merchantConditions.map((condition) => [condition, conditionColours[condition]])).toEqual([
      ['unavailable', 'red'],
      ['foreign_authorizer', 'red'],
      ['reported_dead', 'red'],
      ['likely_dead', 'red'],
      ['unshared', 'red'],
      ['watched', 'yellow'],
      ['stale', 'yellow'],
      ['held_back', 'yellow'],
      ['failing', 'yellow'],
      ['renewing', 'blue'],
      ['fresh', 'green'],
    ]);
  });

  it('has a word for each, and one more for a session that has expired', () => {
    const words = merchantConditions.map((one) => conditionWord(one, 'expired'));
    expect(words).toEqual([
      'expired',
      'ended by others',
      'reported dead',
      'likely dead',
      'not shared',
      'watched',
      'past margin',
      'not renewed',
      'failing',
      'renewing',
      'fresh',
    ]);
    expect(conditionWord('unavailable', 'no_session')).toBe('no session');
    expect(conditionWord('unavailable', undefined)).toBe('no session');
  });
});
