import { FakeClock } from '#libs/testing';
import { HoldOffs } from './hold-offs.js';
import type { ClaimRefusal } from './ports/session-store.js';

function holdOffsAfter(...refusals: readonly ClaimRefusal[]): { clock: FakeClock; holdOffs: HoldOffs } {
  const clock = new FakeClock();
  const holdOffs = new HoldOffs(clock);
  for (const refusal of refusals) holdOffs.note('shop', refusal);
  return { clock, holdOffs };
}

const refusal = (kind: ClaimRefusal['kind'], retryInMs = 1_000): ClaimRefusal => ({ kind, retryInMs });

describe('what the store refused', () => {
  const table = {
    'a lease of somebody else holds off everybody': ['held', true, true],
    'a back-off holds off everybody': ['backing_off', true, true],
    'a spent budget holds off everybody': ['budget_exhausted', true, true],
    'a cool-down holds off those who would replace a living session': ['cooled_down', true, false],
    'what is not due holds off nobody': ['not_due', false, false],
  } as const;

  it.each(Object.entries(table))('%s', (_name, [kind, replacing, needing]) => {
    const { holdOffs } = holdOffsAfter(refusal(kind));
    expect(holdOffs.find('shop', true)?.kind).toBe(replacing ? kind : undefined);
    expect(holdOffs.find('shop', false)?.kind).toBe(needing ? kind : undefined);
  });

  it('stands until the moment when asking again can make sense, with what is left of it', () => {
    const { clock, holdOffs } = holdOffsAfter({ ...refusal('held'), mark: 'first' });
    clock.freeze(400);
    expect(holdOffs.find('shop', false)).toEqual({ kind: 'held', retryInMs: 600, mark: 'first' });
    clock.freeze(599);
    expect(holdOffs.find('shop', false)?.retryInMs).toBe(1);
    clock.freeze(1);
    expect(holdOffs.find('shop', false)).toBeUndefined();
  });

  it('is replaced by what was refused later, though that is over sooner', () => {
    const { holdOffs } = holdOffsAfter(refusal('held', 5_000), refusal('backing_off', 100));
    expect(holdOffs.find('shop', true)).toEqual(refusal('backing_off', 100));
  });

  it('holds off generally before it cools down', () => {
    const { clock, holdOffs } = holdOffsAfter(refusal('cooled_down', 5_000), refusal('held'));
    expect(holdOffs.find('shop', true)?.kind).toBe('held');
    clock.freeze(1_000);
    expect(holdOffs.find('shop', true)).toEqual(refusal('cooled_down', 4_000));
    clock.freeze(4_000);
    expect(holdOffs.find('shop', true)).toBeUndefined();
  });

  it('is forgotten for its merchant alone, cool-down and all', () => {
    const { holdOffs } = holdOffsAfter(refusal('cooled_down'), refusal('held'));
    holdOffs.note('stall', refusal('held'));
    holdOffs.forget('shop');
    expect([holdOffs.find('shop', true), holdOffs.find('stall', true)?.kind]).toEqual([undefined, 'held']);
  });

  it('holds off nobody else', () => {
    expect(holdOffsAfter(refusal('held')).holdOffs.find('stall', true)).toBeUndefined();
  });
});
