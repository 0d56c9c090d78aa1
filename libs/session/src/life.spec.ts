import { plusMs } from '#libs/clock';
import {
  anIssuedSession,
  aRecordedFailure,
  aSession,
  someSettings,
  effectIn,
  granted,
  MINUTE,
  effectNames,
  Play,
  resultOf,
  served,
} from '#libs/testing';
import { GatewayFailure } from './gateway-failure.js';
import type { Input } from './life.js';
import { generationOf, type Now } from './merchant.js';
import type { RenewalTrigger } from './ports/session-events.js';
import type { Lease, StoredState } from './ports/session-store.js';

describe('a renewal', () => {
  it('is a wish, room at the gateway, a claim, a call and a publication, and serves the session from the answer on', () => {
    const play = new Play();
    expect(effectNames(play.feed({ on: 'wanted', trigger: 'startup' }))).toEqual(['enter']);
    expect(effectNames(play.feed({ on: 'admitted' }))).toEqual(['claim']);
    const effects = play.feed(granted());
    expect(effectNames(effects)).toEqual(['create']);
    // The lease of 15 s, less what is kept for writing the result.
    expect(effectIn(effects, 'create').withinMs).toBe(13_000);
    play.pass(50);
    expect(effectNames(play.create())).toEqual(['publish']);
    expect([generationOf(play.merchant), play.merchant.held?.kept]).toEqual([1_000, 'here_alone']);
    expect(resultOf(play.feed({ on: 'published', answer: 'published' }))).toEqual({ kind: 'renewed' });
    expect([play.merchant.phase.at, play.merchant.held?.kept]).toEqual(['idle', 'in_store']);
    const [generation, merchant, trigger] = [1_000, 'shop', 'startup'] as const;
    expect(play.told).toEqual([
      { event: 'lease_granted', merchant, trigger },
      { event: 'session_adopted', merchant, generation, source: 'own', ageMs: 0, serverKeyChanged: false },
      { event: 'renewal_finished', merchant, trigger, generation, durationMs: 50, outcome: 'success' },
    ]);
  });

  it.each<[RenewalTrigger, string, number]>([
    ['startup', 'when_due', 0],
    ['schedule', 'when_due', 0],
    ['demand', 'when_wanted', 10_000],
    ['operator', 'when_wanted', 0],
  ])('for %s claims %s, with a cool-down of %d ms beside a fresh session', (trigger, mode, coolDownMs) => {
    const { request } = effectIn(new Play(served()).wish(trigger), 'claim');
    expect(request).toMatchObject({ mode, coolDownMs, newerThan: 10, floor: 10 });
  });

  it('for a rejection keeps the pause if the bank did not say why, and ten seconds if it did', () => {
    const coolDownFor = (reason?: string): number =>
      effectIn(new Play(served()).wish('rejection', { reason }), 'claim').request.coolDownMs;
    const pauseMs = someSettings().foreignAuthorizerPauseMs;
    expect([coolDownFor('b_expired_token'), coolDownFor(undefined)]).toEqual([10_000, pauseMs]);
  });

  it.each<[RenewalTrigger, number]>([
    ['demand', 0],
    ['rejection', someSettings().foreignAuthorizerPauseMs],
  ])('for %s beside a session past its margin, which lives, has a cool-down of %d ms', (trigger, coolDownMs) => {
    const play = new Play(served()).pass(14.7 * MINUTE);
    expect(effectIn(play.wish(trigger), 'claim').request.coolDownMs).toBe(coolDownMs);
  });

  it('says of a refusal by the budget whether it was of the whole, or of the share of wishes', () => {
    const refusedFor = (trigger: RenewalTrigger): unknown => {
      const play = new Play(served());
      play.wish(trigger);
      play.feed({ on: 'claimed', answer: { kind: 'budget_exhausted', retryInMs: MINUTE } });
      return play.told;
    };
    const told = (trigger: RenewalTrigger, reason: string): unknown => [
      { event: 'claim_refused', merchant: 'shop', trigger, reason },
    ];
    expect(refusedFor('schedule')).toEqual(told('schedule', 'budget_exhausted'));
    expect(refusedFor('demand')).toEqual(told('demand', 'share_spent'));
  });

  it('is neither claimed by a replica that stops, nor while others are to be heard first, but for a rejection', () => {
    const resultFor = (now: Partial<Now>, trigger: RenewalTrigger = 'demand'): unknown => {
      const play = new Play();
      play.now = { ...play.now, ...now };
      const effects = play.wish(trigger);
      return effectNames(effects).includes('claim') ? 'claim' : resultOf(effects);
    };
    expect(resultFor({ isStopping: true })).toEqual({ kind: 'stopping', retryInMs: 1_000 });
    expect(resultFor({ settings: undefined })).toEqual({ kind: 'stopping', retryInMs: 1_000 });
    expect(resultFor({ graceMs: 700 })).toEqual({ kind: 'held', retryInMs: 700 });
    expect(resultFor({ graceMs: 700, isStoreDown: true })).toEqual({ kind: 'store_down', retryInMs: 1_000 });
    expect(resultFor({ graceMs: 700 }, 'rejection')).toBe('claim');
  });

  it('gives a lease back that something newer came before, until that is due', () => {
    const play = new Play();
    play.wish();
    play.read({ stored: { kind: 'session', session: aSession({ generation: 2_000 }), ageMs: 0 } });
    const effects = play.feed(granted());
    expect(resultOf(effects)).toEqual({ kind: 'already_newer' });
    expect(effectNames(effects)).toEqual(['release', 'end', 'read']);
    // Twelve of its fifteen minutes, less the millisecond that is not known.
    expect(effectIn(effects, 'release').release).toEqual({ called: false, nextDueInMs: 12 * MINUTE - 1 });
  });

  it('is shared by all who wish while it is under way, and waits for nobody once somebody cannot wait', () => {
    const play = new Play(served());
    play.wish();
    expect(play.feed({ on: 'wanted', trigger: 'demand' })).toEqual([]);
    expect(effectNames(play.feed({ on: 'wanted', trigger: 'rejection' }))).toEqual(['hurry']);
    expect(effectNames(play.pass(15 * MINUTE).feed({ on: 'wanted', trigger: 'demand' }))).toContain('hurry');
  });

  it('is not claimed for when something newer has come while it waited for room at the gateway', () => {
    const play = new Play(served());
    play.feed({ on: 'wanted', trigger: 'operator' });
    play.read({ stored: { kind: 'session', session: aSession({ generation: 11 }), ageMs: 0 } });
    expect(resultOf(play.feed({ on: 'admitted' }))).toEqual({ kind: 'already_newer' });
  });

  it('that is planned asks consumers to hold their calls first, and checks everything again', () => {
    const play = new Play(served());
    play.now = { ...play.now, settings: someSettings({ handoverMs: 1_000 }) };
    expect(effectIn(play.claim({ remainingMs: 16_000 }), 'hand_over').limitMs).toBe(1_000);
    play.now = { ...play.now, isStopping: true };
    const effects = play.feed({ on: 'handed_over' });
    expect(effectIn(effects, 'release')).toMatchObject({ release: { called: false, nextDueInMs: 0 }, resumes: true });
    expect(resultOf(effects)).toMatchObject({ kind: 'stopping' });
  });

  it.each<[RenewalTrigger, Partial<Lease>]>([
    ['startup', {}],
    ['rejection', {}],
    ['operator', {}],
    ['schedule', { failures: 3 }],
  ])('for %s with a lease %j asks nobody to hold anything', (trigger, lease) => {
    const play = new Play(served());
    play.now = { ...play.now, settings: someSettings({ handoverMs: 1_000 }) };
    expect(effectNames(play.claim({ remainingMs: 16_000, ...lease }, trigger))).toEqual(['create']);
  });

  it('gives a lease back without a call if it is too short, if it came too late, or if others are to be heard first', () => {
    // The longest call of five seconds, and two to write its result.
    const short = new Play().claim({ remainingMs: 6_999 });
    expect([resultOf(short), effectIn(short, 'release').resumes]).toEqual([{ kind: 'lost', retryInMs: 0 }, false]);
    expect(effectNames(new Play().claim({ remainingMs: 7_000 }))).toEqual(['create']);
    const unasked = effectIn(new Play().feed(granted()), 'release');
    expect(unasked).toMatchObject({ release: { called: false, nextDueInMs: 0 }, resumes: false });
    const play = new Play();
    play.wish();
    play.now = { ...play.now, graceMs: 700 };
    const effects = play.feed(granted());
    expect(effectIn(effects, 'release').release).toEqual({ called: false, nextDueInMs: 700 });
    play.now = { ...play.now, graceMs: 0 };
    expect(effectIn(play.wish(), 'claim').request.floor).toBe(1_000);
  });

  it('is held up from when the store was asked, not from when its answer was read', () => {
    const play = new Play();
    play.wish('demand');
    play.pass(9_000).feed({ on: 'claimed', answer: { kind: 'held', retryInMs: 7_000 } });
    expect(effectNames(play.wish('demand'))).toEqual(['enter', 'claim']);
  });

  it('is refused by a store that is ahead, which is read, and nothing of that stands in the way of the next', () => {
    const play = new Play();
    play.wish('demand');
    const effects = play.feed({ on: 'claimed', answer: { kind: 'already_newer', generation: 2_000 } });
    expect([resultOf(effects), effectNames(effects)]).toEqual([
      { kind: 'already_newer', generation: 2_000 },
      ['end', 'read'],
    ]);
    expect(effectNames(play.wish('demand'))).toEqual(['enter', 'claim']);
  });

  it.each<Input>([
    { on: 'admitted' },
    { on: 'claimed', answer: 'outage' },
    { on: 'claimed', answer: { kind: 'held', retryInMs: 7_000 } },
    { on: 'handed_over' },
    { on: 'created', issued: anIssuedSession() },
    { on: 'not_created', failure: new GatewayFailure({ kind: 'transient', detail: 'late' }) },
    { on: 'published', answer: 'published' },
    { on: 'reported', report: { generation: 10, ageMs: 0, mayProve: true }, answer: { isKept: true, diedEarly: true } },
    { on: 'unreplaced', generation: 10, result: { kind: 'store_down', retryInMs: 1_000 } },
    { on: 'rejected', generation: 10, reason: 'b_expired_token' },
  ])('learns nothing from an answer that nobody waits for any more: %j', (late) => {
    const play = new Play();
    const before = play.merchant;
    expect([play.feed(late), play.told, play.merchant]).toEqual([[], [], before]);
  });

  it.each([
    ['before it was opened', -30, 70],
    ['by a clock that was set ahead meanwhile, with the call', -3_600_000, 0],
    ['by a clock that was set back meanwhile, just now', 3_600_000, 100],
  ])('makes a session as old as its answer, which came %s', (_when, byMs, answeredAtMs) => {
    const play = new Play();
    play.claim();
    const sentAt = play.now.wall;
    play.pass(100).feed({
      on: 'created',
      issued: anIssuedSession({ sentAt, receivedAt: plusMs(play.now.wall, byMs) }),
    });
    expect(play.merchant.held?.answeredAtMs).toBe(answeredAtMs);
  });

  it('never calls twice under one fence: the floor of the next claim is that of the call', () => {
    const play = new Play();
    play.claim({ fence: 2_000 });
    play.fail('transient');
    expect(effectIn(play.pass(5 * MINUTE).wish(), 'claim').request.floor).toBe(2_000);
  });

  it('remembers no call for longer than the longest window of the budget', () => {
    const play = new Play({ callsAtMs: [-86_400_000, -86_399_999] });
    play.claim();
    expect(play.merchant.callsAtMs).toEqual([-86_399_999, 0]);
  });

  it('for a merchant that was removed meanwhile ends, and its session is not kept', () => {
    const play = new Play();
    play.claim();
    play.now = { ...play.now, settings: undefined };
    expect(effectNames(play.create())).toEqual(['publish']);
    expect(resultOf(play.feed({ on: 'published', answer: 'published' }))).toMatchObject({ kind: 'stopping' });
    expect(play.merchant.held).toBeUndefined();
    const failed = new Play();
    failed.claim();
    failed.now = { ...failed.now, settings: undefined };
    expect(resultOf(failed.fail('transient'))).toMatchObject({ kind: 'stopping' });
    expect(failed.merchant).toMatchObject({ phase: { at: 'idle' }, failure: undefined, wakeAtMs: Infinity });
  });
});

describe('a session that the store has not confirmed', () => {
  it.each(['outage', 'broken'] as const)(
    '(%s) is published again while the lease lasts, and is offered after that',
    (answer) => {
      const play = new Play();
      play.claim();
      play.create();
      expect(effectIn(play.feed({ on: 'published', answer }), 'publish').afterMs).toBe(100);
      play.pass(15_000);
      expect(resultOf(play.feed({ on: 'published', answer }))).toEqual({ kind: 'renewed' });
      expect(play.told.at(-1)).toMatchObject({ event: 'renewal_finished', outcome: 'success' });
      expect(effectIn(play.feed({ on: 'store_back' }), 'offer').offer).toMatchObject({ ageMs: 15_000 });
      expect(play.feed({ on: 'store_back' })).toEqual([]);
      expect(play.feed({ on: 'offered', generation: 1_000, answer: 'published' })).toEqual([]);
      expect(play.feed({ on: 'store_back' })).toEqual([]);
    },
  );

  it('is offered again, a second after a bug of ours kept it from the store', () => {
    const play = new Play(served());
    const { offer } = effectIn(play.pass(MINUTE).read(), 'offer');
    expect(offer).toMatchObject({ ageMs: MINUTE, nextDueInMs: 11 * MINUTE });
    play.feed({ on: 'offered', generation: 10, answer: 'broken' });
    expect(play.pass(999).feed({ on: 'store_back' })).toEqual([]);
    expect(effectNames(play.pass(1).feed({ on: 'store_back' }))).toEqual(['offer']);
  });

  it('is offered when the store, which says that it has it, was seen without it since it was asked', () => {
    const play = new Play(served());
    play.claim();
    play.create();
    expect(effectNames(play.read())).toEqual([]);
    const effects = play.feed({ on: 'published', answer: 'published' });
    expect([resultOf(effects), effectNames(effects)]).toEqual([{ kind: 'renewed' }, ['end', 'offer']]);
  });

  it('is not published, but offered, when it came after the end of its lease', () => {
    const play = new Play();
    play.claim();
    play.pass(20_000);
    expect(resultOf(play.create())).toEqual({ kind: 'renewed' });
    const late = { event: 'late_result', merchant: 'shop', generation: 1_000 };
    expect(play.told.slice(-2)).toEqual([late, expect.objectContaining({ outcome: 'lease_lost' })]);
    expect(effectNames(play.feed({ on: 'store_back' }))).toEqual(['offer']);
  });

  it('is served although the store has something newer, which is read', () => {
    const play = new Play();
    play.claim();
    play.create();
    const effects = play.feed({ on: 'published', answer: 'fenced' });
    expect([effectNames(effects), resultOf(effects)]).toEqual([['end', 'read'], { kind: 'lost', retryInMs: 0 }]);
    expect(generationOf(play.merchant)).toBe(1_000);
    const fenced = { event: 'fenced_publish', merchant: 'shop', generation: 1_000 };
    expect(play.told.slice(-2)).toEqual([fenced, expect.objectContaining({ outcome: 'lease_lost' })]);
  });

  it('rests for five seconds when it was refused, and is asked about at once after an outage', () => {
    const play = new Play(served());
    expect(effectNames(play.read())).toEqual(['resync', 'offer']);
    const fenced = play.feed({ on: 'offered', generation: 10, answer: 'fenced' });
    expect(fenced).toEqual([{ do: 'read', isUrgent: true }]);
    expect(effectNames(play.read())).toEqual(['resync']);
    play.pass(5_000);
    expect(effectNames(play.read())).toEqual(['resync', 'offer']);
    play.feed({ on: 'offered', generation: 10, answer: 'outage' });
    expect(effectNames(play.feed({ on: 'store_back' }))).toEqual(['offer']);
  });
});

describe('a call that failed', () => {
  it('frees the lease, backs off, and never touches the session that is served', () => {
    const play = new Play(served());
    play.pass(13 * MINUTE).claim({ failures: 5 });
    const effects = play.fail('transient');
    expect(effectIn(effects, 'release').release).toMatchObject({ called: true, failure: { kind: 'transient' } });
    expect(resultOf(effects)).toMatchObject({ kind: 'failed', because: 'transient' });
    expect([generationOf(play.merchant), play.merchant.callsAtMs.length]).toEqual([10, 1]);
    expect(resultOf(play.wish('demand'))).toMatchObject({ kind: 'backing_off' });
    // There is something to use: nobody cuts it short.
    expect(resultOf(play.pass(10_000).wish('demand'))).toMatchObject({ kind: 'backing_off' });
    play.merchant = { ...play.merchant, lookAtMs: play.now.ms };
    play.feed({ on: 'wake' });
    const { failure } = play.merchant;
    expect(play.read({ stored: { kind: 'unchanged', ageMs: 0 }, ...(failure && { failure }) })).toEqual([]);
  });

  it('that never reached the gateway is none of the calls that count', () => {
    const play = new Play();
    play.claim();
    play.fail('transient', false);
    expect(play.merchant.callsAtMs).toEqual([]);
  });

  it('is tried again before its back-off is over by whoever has nothing live, at most every ten seconds', () => {
    const play = new Play();
    play.claim({ failures: 5 });
    play.fail('transient');
    expect(resultOf(play.wish('demand'))).toMatchObject({ kind: 'backing_off' });
    expect(effectNames(play.pass(10_000).wish('demand'))).toEqual(['enter', 'claim']);
    const effects = play.feed({ on: 'claimed', answer: { kind: 'budget_exhausted', retryInMs: MINUTE } });
    expect(resultOf(effects)).toMatchObject({ kind: 'backing_off' });
    expect(resultOf(play.wish('demand'))).toMatchObject({ kind: 'backing_off' });
    play.pass(10_000).wish('demand');
    const held = { kind: 'held', retryInMs: 7_000 } as const;
    expect(resultOf(play.feed({ on: 'claimed', answer: held }))).toEqual(held);
  });

  it.each(['refused', 'revoked'] as const)('as %s is tried again by nobody but an operator', (kind) => {
    const play = new Play();
    play.claim({ failures: 5 });
    play.fail(kind);
    play.pass(MINUTE);
    expect(resultOf(play.wish('rejection'))).toMatchObject({ kind: 'backing_off' });
    expect(effectNames(play.wish('operator'))).toEqual(['enter', 'claim']);
  });

  it('is told with what was asked for and when it is tried again, and as a timeout if it was cut off by its own time', () => {
    const play = new Play();
    play.claim({}, 'demand');
    play.pass(700);
    play.fail('aborted');
    expect(play.merchant.failure).toEqual({ kind: 'timeout', at: play.now.wall });
    const retryInMs = 1_500;
    const said = {
      merchant: 'shop',
      trigger: 'demand',
      generation: 1_000,
      durationMs: 700,
      outcome: 'timeout',
      retryInMs,
    };
    expect(play.told.at(-1)).toMatchObject({ event: 'renewal_finished', ...said, failure: { kind: 'aborted' } });
  });

  it('is abandoned, not failed, when the replica stops', () => {
    const play = new Play();
    play.claim();
    play.now = { ...play.now, isStopping: true };
    const effects = play.fail('aborted');
    expect(effectIn(effects, 'release').release).toEqual({ called: true, nextDueInMs: 0 });
    expect([resultOf(effects), play.merchant.failure]).toMatchObject([{ kind: 'stopping' }, undefined]);
    const failed = new Play();
    failed.claim();
    failed.now = { ...failed.now, isStopping: true };
    expect(resultOf(failed.fail('transient'))).toMatchObject({ kind: 'failed' });
  });

  it('of another replica is no news when it is read again', () => {
    const failure = aRecordedFailure();
    const play = new Play();
    play.read({ failure, dueInMs: 10_000 });
    expect(resultOf(play.wish('demand'))).toMatchObject({ kind: 'backing_off', retryInMs: 10_000 });
    play.pass(9_000).read({ failure, dueInMs: 10_000 });
    expect(resultOf(play.wish('demand'))).toMatchObject({ kind: 'backing_off', retryInMs: 1_000 });
    play.read({});
    expect(play.merchant.failure).toBeUndefined();
  });

  it('is not forgotten for a read that began before it', () => {
    const play = new Play();
    play.claim();
    play.fail('transient');
    const state: StoredState = { merchant: 'shop', stored: { kind: 'absent' }, dueInMs: 0 };
    play.feed({ on: 'stored', state, ageMs: 0, failureBefore: undefined });
    expect(play.merchant.failure).toMatchObject({ kind: 'transient' });
  });
});
