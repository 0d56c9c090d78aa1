import { plusMs } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { aSession, aServerPublicKey, FakeClock, FakeGateway, RecordedEvents, someSettings } from '#libs/testing';
import { CallCeiling } from './call-ceiling.js';
import type { RenewalRequest } from './claims.js';
import { FailureBoard } from './failure-board.js';
import type { GatewayFailureFacts } from './gateway-failure.js';
import { GatewayLoad } from './gateway-load.js';
import { Grace } from './grace.js';
import type { Handovers } from './handovers.js';
import { HeldSessions } from './held-sessions.js';
import { MomentWatches } from './moment-watches.js';
import type { ClaimRequest, ClaimResult, SessionStore } from './ports/session-store.js';
import { type TracedRenewal, untraced } from './ports/tracing.js';
import type { RenewalResult } from './renewal-result.js';
import { Renewer, type RenewerContext } from './renewer.js';
import type { SessionSettings } from './session-settings.js';
import type { UnpublishedSession } from './unpublished-sessions.js';

const FENCE = 1_000;
const GRACE_MS = 700;
const silent = new BrokerError('store_unavailable');
const refusing = new BrokerError('store_refused');
const bug = new TypeError('not a function');
const busy: GatewayFailureFacts = { kind: 'transient', detail: 'busy', msgCode: 'b_overload_error' };

/** The store's answers, in turn; then it grants, publishes and frees. */
class ScriptedStore {
  readonly claims: (ClaimResult | Error)[] = [];
  readonly publications: ('fenced' | Error)[] = [];
  readonly released: unknown[] = [];
  releaseFails: Error | undefined;
  readonly wishes: ClaimRequest[] = [];
  whileClaiming: () => void = () => undefined;

  get claimed(): number {
    return this.wishes.length;
  }

  async claim(wish: ClaimRequest): Promise<ClaimResult> {
    this.wishes.push(wish);
    this.whileClaiming();
    const lease = { merchant: 'shop', owner: 'replica-1', fence: FENCE, remainingMs: 10_000, failures: 0 };
    const answer = this.claims.shift() ?? { kind: 'claimed', lease };
    if (answer instanceof Error) throw answer;
    return answer;
  }

  async publish(): Promise<'published' | 'fenced'> {
    const answer = this.publications.shift() ?? 'published';
    if (answer instanceof Error) throw answer;
    return answer;
  }

  async release(_lease: unknown, release: unknown): Promise<boolean> {
    this.released.push(release);
    if (this.releaseFails !== undefined) throw this.releaseFails;
    return true;
  }
}

/** One replica's renewals of one merchant, in virtual time. */
class Renewing {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  readonly events = new RecordedEvents();
  readonly gateway = new FakeGateway({ clock: this.clock, latencyMs: 50 });
  readonly failures = new FailureBoard();
  readonly load = new GatewayLoad();
  readonly store = new ScriptedStore();
  readonly kept: UnpublishedSession[] = [];
  readonly traced: TracedRenewal[] = [];
  settings: SessionSettings | undefined = someSettings();
  readonly renewer = new Renewer({
    owner: 'replica-1',
    merchants: { ids: () => ['shop'], settingsOf: () => this.settings, gatewayIdOf: () => 'gateway' },
    held: this.held,
    store: this.store as unknown as SessionStore,
    silence: { isLasting: true } as RenewerContext['silence'],
    unpublished: {
      keep: (made: UnpublishedSession) => this.kept.push(made),
    } as unknown as RenewerContext['unpublished'],
    watches: new MomentWatches(this.clock),
    earlyDeaths: { beforeNext: () => ({}) } as unknown as RenewerContext['earlyDeaths'],
    ceiling: new CallCeiling(this.clock),
    load: this.load,
    failures: this.failures,
    grace: new Grace(this.clock, GRACE_MS),
    handovers: {
      lead: async () => async () => undefined,
      hurry: () => undefined,
      stop: () => undefined,
    } as unknown as Handovers,
    gateway: this.gateway,
    events: this.events,
    clock: this.clock,
    random: () => 0.5,
    tracing: { ...untraced, renewal: (renewal, run) => (this.traced.push(renewal), run()) },
  });

  /** A reader's wish, unless overridden. */
  wish(wish: Partial<RenewalRequest> = {}): Promise<RenewalResult> {
    return this.renewer.renew({ merchant: 'shop', trigger: 'demand', newerThan: 0, coolDownMs: 0, ...wish });
  }

  /** The same, with its result after this long. */
  async renew(wish: Partial<RenewalRequest> = {}, forMs = 60_000): Promise<RenewalResult> {
    const ended = this.wish(wish);
    const settled = Promise.allSettled([ended]);
    await this.clock.advance(forMs);
    await settled;
    return ended;
  }

  /** A session that was answered this long ago. */
  holding(generation: number, ageMs = 0): this {
    this.held.adopt(aSession({ generation }), ageMs);
    return this;
  }

  /** May go on alone, and has a seat. */
  authorized(): this {
    this.settings = someSettings({ onStoreOutage: 'authorize' });
    this.renewer.takeSeat(7);
    return this;
  }

  /** How many calls to the gateway are allowed now. */
  room(): number {
    let room = 0;
    for (; this.load.hasRoom('gateway'); room += 1) void this.load.enter('gateway');
    for (let left = 0; left < room; left += 1) this.load.leave('gateway', 'refused');
    return room;
  }

  get names(): readonly string[] {
    return this.events.all.map(({ event }) => event);
  }
}

describe('a wish for a newer session', () => {
  it('is fulfilled by a claim, a call and a publication, each of which is told', async () => {
    const renewing = new Renewing();
    renewing.clock.freeze(5_000);
    expect(await renewing.renew()).toEqual({ kind: 'renewed' });
    const told = { merchant: 'shop', generation: FENCE };
    expect(renewing.events.all).toEqual([
      { event: 'lease_granted', merchant: 'shop', trigger: 'demand' },
      { event: 'session_adopted', ...told, source: 'own', ageMs: expect.any(Number), serverKeyChanged: false },
      { event: 'renewal_finished', ...told, trigger: 'demand', durationMs: 50, callMs: 50, outcome: 'success' },
    ]);
    expect(renewing.held.generationOf('shop')).toBe(FENCE);
    expect(renewing.traced).toMatchObject([{ merchant: 'shop', trigger: 'demand' }]);
    expect(renewing.kept).toEqual([]);
  });

  it('shares the attempt that is under way', async () => {
    const renewing = new Renewing();
    const [first, second] = [renewing.wish(), renewing.wish()];
    expect(second).toBe(first);
    expect([renewing.renewer.inFlight, renewing.renewer.isRenewing('shop')]).toEqual([1, true]);
    await renewing.clock.advance(50);
    expect([renewing.renewer.inFlight, renewing.renewer.isRenewing('shop')]).toEqual([0, false]);
    expect(renewing.gateway.calls).toHaveLength(1);
  });

  it('of a merchant that is not configured is asked of nobody', async () => {
    const renewing = new Renewing();
    renewing.settings = undefined;
    expect(await renewing.renew()).toEqual({ kind: 'stopping', retryInMs: 1_000 });
    expect(renewing.store.claimed).toBe(0);
  });

  it('that memory fulfils is asked of nobody, unlike one for more than memory has', async () => {
    const renewing = new Renewing().holding(12);
    expect(await renewing.renew({ newerThan: 11 })).toEqual({ kind: 'already_newer' });
    expect(renewing.store.claimed).toBe(0);
    await renewing.renew({ newerThan: 12 });
    expect(renewing.store.claimed).toBe(1);
  });

  it('that was refused is not asked again before the wait is over, but for the schedule’s and one without its reason', async () => {
    const renewing = new Renewing();
    const refusal = { kind: 'backing_off', retryInMs: 5_000 } as const;
    renewing.store.claims.push(refusal, refusal, refusal);
    await renewing.renew({}, 1_000);
    expect(renewing.renewer.retryInMs('shop')).toBe(4_000);
    expect(await renewing.renew({}, 0)).toEqual({ kind: 'backing_off', retryInMs: 4_000 });
    expect(renewing.store.claimed).toBe(1);
    await renewing.renew({ trigger: 'schedule' }, 0);
    await renewing.renew({ ignoresBackOff: true }, 0);
    expect(renewing.store.claimed).toBe(3);
    renewing.renewer.forgetHoldOff('shop');
    expect(renewing.renewer.retryInMs('shop')).toBeUndefined();
  });

  it('is claimed with numbers of this replica’s own seat', async () => {
    const renewing = new Renewing();
    renewing.renewer.takeSeat(7);
    await renewing.renew();
    expect(renewing.store.wishes).toMatchObject([{ floor: 13 }]);
  });

  it('that was refused is not kept waiting for room at the gateway', async () => {
    const renewing = new Renewing();
    renewing.renewer.noteBackOff('shop', 9_000);
    for (let call = 0; call < 16; call += 1) void renewing.load.enter('gateway');
    expect(await renewing.renew({}, 0)).toMatchObject({ kind: 'backing_off' });
  });

  it('is held off by a cool-down only where it replaces a living session early', async () => {
    const renewing = new Renewing();
    renewing.store.claims.push({ kind: 'cooled_down', retryInMs: 5_000 });
    await renewing.renew({ coolDownMs: 10_000 }, 0);
    expect(renewing.renewer.retryInMs('shop')).toBeUndefined();
    expect(await renewing.renew({ coolDownMs: 10_000 }, 0)).toEqual({ kind: 'cooled_down', retryInMs: 5_000 });
    expect(renewing.store.claimed).toBe(1);
    expect(await renewing.renew()).toEqual({ kind: 'renewed' });
  });

  it.each<[string, (renewing: Renewing) => void, RenewalResult]>([
    ['fulfilled', (renewing) => renewing.holding(12), { kind: 'already_newer' }],
    ['removed', (renewing) => (renewing.settings = undefined), { kind: 'stopping', retryInMs: 1_000 }],
    [
      'backed off elsewhere',
      ({ renewer }) => renewer.noteBackOff('shop', 9_000),
      { kind: 'backing_off', retryInMs: 9_000 },
    ],
  ])('is asked anew after the wait for room at the gateway: it may be %s', async (_name, change, expected) => {
    const renewing = new Renewing();
    for (let call = 0; call < 16; call += 1) void renewing.load.enter('gateway');
    const ended = renewing.renew();
    change(renewing);
    renewing.load.leave('gateway', 'refused');
    expect(await ended).toEqual(expected);
    expect(renewing.store.claimed).toBe(0);
  });

  it('leaves its place at the gateway, of which there are fewer after a call that was not answered well', async () => {
    const renewing = new Renewing();
    await renewing.renew();
    expect(renewing.room()).toBe(16);
    renewing.gateway.answerNext(busy);
    await renewing.renew({ newerThan: FENCE });
    expect(renewing.room()).toBe(8);
  });
});

describe('a replica that has just come to the store', () => {
  it('lets others say first what they hold, but replaces what its gateway has refused', async () => {
    const renewing = new Renewing();
    renewing.renewer.letOthersOffer();
    expect(await renewing.renew({}, 0)).toEqual({ kind: 'held', retryInMs: GRACE_MS });
    expect(renewing.store.claimed).toBe(0);
    expect(await renewing.renew({ trigger: 'rejection' }, 50)).toEqual({ kind: 'renewed' });
  });

  it.each([
    ['takes it back', undefined],
    ['is silent again', silent],
  ])('gives a lease back that was the first answer, where the store %s', async (_name, releaseFails) => {
    const renewing = new Renewing();
    renewing.store.whileClaiming = () => renewing.renewer.letOthersOffer();
    renewing.store.releaseFails = releaseFails;
    expect(await renewing.renew({}, 0)).toEqual({ kind: 'held', retryInMs: GRACE_MS });
    expect(renewing.store.released).toEqual([{ called: false, nextDueInMs: GRACE_MS }]);
    expect(renewing.gateway.calls).toEqual([]);
  });

  it('does not hide a bug that the return of the lease has shown', async () => {
    const renewing = new Renewing();
    renewing.store.whileClaiming = () => renewing.renewer.letOthersOffer();
    renewing.store.releaseFails = bug;
    await expect(renewing.renew()).rejects.toBe(bug);
  });
});

describe('the ceiling of this process', () => {
  it('refuses a claim that the store might grant, and says so', async () => {
    const renewing = new Renewing();
    renewing.settings = someSettings({ budget: [{ calls: 1, perMs: 600_000 }] });
    await renewing.renew({}, 50);
    const spent = { kind: 'budget_exhausted', retryInMs: 599_950 };
    expect(await renewing.renew({ newerThan: FENCE, trigger: 'schedule' }, 0)).toEqual(spent);
    expect(renewing.events.all.at(-1)).toEqual({
      event: 'claim_refused',
      merchant: 'shop',
      trigger: 'schedule',
      reason: 'budget_exhausted',
    });
    await renewing.renew({ newerThan: FENCE, trigger: 'rejection', coolDownMs: 10_000 }, 0);
    expect(renewing.events.all.at(-1)).toMatchObject({ trigger: 'rejection', reason: 'share_spent' });
    expect(renewing.store.claimed).toBe(1);
    renewing.clock.freeze(599_950);
    await renewing.renew({ newerThan: FENCE });
    expect(renewing.store.claimed).toBe(2);
  });
});

describe('a store that does not work', () => {
  const down = { kind: 'store_down', retryInMs: 1_000 };

  it('and says so lets nobody go on alone', async () => {
    const renewing = new Renewing().authorized();
    renewing.store.claims.push(refusing);
    expect(await renewing.renew()).toEqual(down);
    expect(renewing.gateway.calls).toEqual([]);
  });

  it('because of a bug of ours is not an outage', async () => {
    const renewing = new Renewing().authorized();
    renewing.store.claims.push(bug);
    await expect(renewing.renew()).rejects.toBe(bug);
    expect(renewing.renewer.inFlight).toBe(0);
    expect(renewing.room()).toBe(16);
  });

  it('and is silent lets a replica create alone what is past its margin, or was refused', async () => {
    const renewing = new Renewing().authorized().holding(12);
    renewing.store.claims.push(silent, silent, silent);
    renewing.clock.freeze(5_000);
    expect(await renewing.renew({ newerThan: 12 }, 0)).toEqual(down);
    expect(await renewing.renew({ newerThan: 12, trigger: 'rejection' }, 50)).toEqual({ kind: 'renewed' });
    const { generation } = renewing.held.get('shop') ?? aSession();
    expect(renewing.kept).toMatchObject([{ session: { generation }, known: 12 }]);
    expect(renewing.events.all).toEqual([
      {
        event: 'renewal_finished',
        merchant: 'shop',
        trigger: 'rejection',
        generation,
        durationMs: 50,
        callMs: 50,
        outcome: 'success',
      },
      { event: 'unconfirmed_publish', merchant: 'shop', generation },
      {
        event: 'session_adopted',
        merchant: 'shop',
        generation,
        source: 'own',
        ageMs: expect.any(Number),
        serverKeyChanged: false,
      },
    ]);
    // To the margin, and not a millisecond beyond it.
    renewing.clock.freeze(869_999);
    expect(await renewing.renew({ newerThan: generation }, 50)).toEqual({ kind: 'renewed' });
    expect(renewing.gateway.calls).toHaveLength(2);
  });

  it('keeps a cool-down by the age of the session that is held: nobody can be asked when it began', async () => {
    const renewing = new Renewing().authorized().holding(12, 4_000);
    renewing.store.claims.push(silent, silent);
    const rejection = { newerThan: 12, trigger: 'rejection', coolDownMs: 10_000 } as const;
    expect(await renewing.renew(rejection, 0)).toEqual({ kind: 'cooled_down', retryInMs: 6_000 });
    renewing.clock.freeze(6_000);
    expect(await renewing.renew(rejection, 50)).toEqual({ kind: 'renewed' });
  });

  it('lets rejections wait ever longer for what is created alone, but not needs', async () => {
    const renewing = new Renewing().authorized();
    renewing.store.claims.push(silent, silent);
    await renewing.renew({}, 10_000);
    expect(renewing.renewer.mayGoAlone('shop')).toBe(true);
    await renewing.renew({ trigger: 'rejection', newerThan: 9e15 }, 10_050);
    expect(renewing.renewer.mayGoAlone('shop')).toBe(false);
  });

  it('has the failure of a call without a lease counted and told like any other', async () => {
    const renewing = new Renewing().authorized().holding(12, 880_000);
    renewing.store.claims.push(silent);
    renewing.gateway.answerNext(busy);
    expect(await renewing.renew({ newerThan: 12 }, 50)).toEqual({
      kind: 'failed',
      because: 'transient',
      retryInMs: 9_950,
    });
    expect(renewing.events.all).toMatchObject([{ event: 'renewal_finished', outcome: 'transient', generation: 12 }]);
    expect(renewing.room()).toBe(8);
  });

  it('lets nobody go on alone without the right to, without the configuration, or on its way out', async () => {
    const renewing = new Renewing().authorized();
    expect(renewing.renewer.mayGoAlone('shop')).toBe(true);
    renewing.settings = someSettings({ onStoreOutage: 'fail' });
    expect(renewing.renewer.mayGoAlone('shop')).toBe(false);
    renewing.settings = undefined;
    expect(renewing.renewer.mayGoAlone('shop')).toBe(false);
    renewing.authorized();
    await renewing.renewer.stop(0);
    expect(renewing.renewer.mayGoAlone('shop')).toBe(false);
  });
});

describe('a lease', () => {
  it('that may end over the call is given back unused', async () => {
    const renewing = new Renewing();
    const lease = { merchant: 'shop', owner: 'replica-1', fence: FENCE, remainingMs: 6_999, failures: 0 };
    renewing.store.claims.push({ kind: 'claimed', lease });
    expect(await renewing.renew()).toEqual({ kind: 'lost', retryInMs: 0 });
    expect(renewing.store.released).toEqual([{ called: false, nextDueInMs: 0 }]);
    expect(renewing.gateway.calls).toEqual([]);
  });

  it('that was granted while a shutdown began is given back unused', async () => {
    const renewing = new Renewing();
    renewing.store.whileClaiming = () => void renewing.renewer.stop(5_000);
    expect(await renewing.renew()).toEqual({ kind: 'stopping', retryInMs: 1_000 });
    expect(renewing.store.released).toEqual([{ called: false, nextDueInMs: 0 }]);
    expect(renewing.gateway.calls).toEqual([]);
    expect(await renewing.renew()).toEqual({ kind: 'stopping', retryInMs: 1_000 });
    expect(renewing.store.claimed).toBe(1);
    expect(renewing.clock.pendingTasks).toBe(0);
  });

  it('is used to its end by a shutdown that has the time, which leaves no timer behind', async () => {
    const renewing = new Renewing();
    const renewal = renewing.wish();
    await renewing.clock.advance(0);
    const stopped = renewing.renewer.stop(2_000);
    await renewing.clock.advance(50);
    await stopped;
    expect(await renewal).toEqual({ kind: 'renewed' });
    expect(renewing.clock.pendingTasks).toBe(0);
  });

  it('is freed when the call outlasts the grace of a shutdown', async () => {
    const renewing = new Renewing();
    renewing.gateway.latencyMs = 5_000;
    const renewal = renewing.wish();
    await renewing.clock.advance(0);
    const stopped = renewing.renewer.stop(2_000);
    await renewing.clock.advance(1_999);
    expect(renewing.store.released).toEqual([]);
    await renewing.clock.advance(1);
    await stopped;
    expect(await renewal).toEqual({ kind: 'stopping', retryInMs: 1_000 });
    expect(renewing.store.released).toEqual([{ called: true, nextDueInMs: 0 }]);
    expect(renewing.names).toEqual(['lease_granted', 'renewal_abandoned']);
    expect(renewing.renewer.inFlight).toBe(0);
  });
});

describe('an attempt', () => {
  it('that fails is told, shown, and not repeated before its back-off is over', async () => {
    const renewing = new Renewing();
    renewing.gateway.answerNext(busy);
    expect(await renewing.renew({}, 50)).toEqual({ kind: 'failed', because: 'transient', retryInMs: 1_500 });
    expect(renewing.events.all.at(-1)).toMatchObject({
      event: 'renewal_finished',
      trigger: 'demand',
      generation: FENCE,
      outcome: 'transient',
      durationMs: 50,
      callMs: 50,
      failure: { msgCode: 'b_overload_error' },
      retryInMs: 1_500,
    });
    expect(renewing.failures.get('shop')).toMatchObject({ kind: 'transient', msgCode: 'b_overload_error' });
    expect(await renewing.renew({}, 0)).toEqual({ kind: 'backing_off', retryInMs: 1_500 });
    expect(await renewing.renew({ trigger: 'schedule' }, 50)).toEqual({ kind: 'renewed' });
    expect(renewing.renewer.retryInMs('shop')).toBeUndefined();
  });

  it('whose lease was taken over has lost', async () => {
    const renewing = new Renewing();
    renewing.store.publications.push('fenced');
    expect(await renewing.renew()).toEqual({ kind: 'lost', retryInMs: 0 });
    expect(renewing.names.slice(2)).toEqual(['fenced_publish', 'renewal_finished']);
    expect(renewing.events.of('renewal_finished')).toMatchObject([{ outcome: 'lease_lost' }]);
    expect(renewing.kept).toEqual([]);
  });

  it('whose publication is not answered has made a session all the same, which is offered', async () => {
    const renewing = new Renewing();
    renewing.store.publications.push(...Array.from({ length: 200 }, () => silent));
    renewing.gateway.answerNext({ gatewayDate: renewing.clock.now() });
    expect(await renewing.renew()).toEqual({ kind: 'renewed' });
    expect(renewing.kept).toMatchObject([{ session: { generation: FENCE }, answeredAtMs: 50, known: 0 }]);
    expect(renewing.names.slice(2)).toEqual(['renewal_finished', 'unconfirmed_publish', 'clock_skew']);
  });

  it('that ended after its lease has made a session all the same, which is offered', async () => {
    const renewing = new Renewing();
    const renewal = renewing.wish();
    await renewing.clock.advance(0);
    renewing.clock.freeze(11_000);
    await renewing.clock.advance(0);
    expect(await renewal).toEqual({ kind: 'renewed' });
    expect(renewing.kept).toMatchObject([{ session: { generation: FENCE } }]);
    expect(renewing.names.slice(2)).toEqual(['late_result', 'renewal_finished']);
    expect(renewing.events.of('renewal_finished')).toMatchObject([{ outcome: 'lease_lost' }]);
  });

  it.each([
    ['succeeds', {}],
    ['fails', busy],
  ])('for a merchant that was removed meanwhile leaves nothing where it %s', async (_name, answer) => {
    const renewing = new Renewing();
    renewing.gateway.answerNext(answer);
    const renewal = renewing.wish();
    await renewing.clock.advance(0);
    renewing.settings = undefined;
    await renewing.clock.advance(50);
    expect(await renewal).toEqual({ kind: 'stopping', retryInMs: 1_000 });
    expect(renewing.held.get('shop')).toBeUndefined();
    expect(renewing.failures.get('shop')).toBeUndefined();
    expect(renewing.renewer.retryInMs('shop')).toBeUndefined();
  });

  it('tells when the server’s key is another one', async () => {
    const changes = [];
    for (const serverPublic of [aServerPublicKey(), { ...aServerPublicKey(), y: 'another' }]) {
      const renewing = new Renewing().holding(12);
      renewing.gateway.answerNext({ serverPublic });
      await renewing.renew({ newerThan: 12 });
      changes.push(...renewing.events.of('session_adopted').map(({ serverKeyChanged }) => serverKeyChanged));
    }
    expect(changes).toEqual([false, true]);
  });

  it('makes a session that ages from the gateway’s answer, however long that took to open', async () => {
    const renewing = new Renewing();
    renewing.gateway.latencyMs = 3_000;
    renewing.gateway.answerNext({ receivedAt: plusMs(renewing.clock.now(), 1_000) });
    await renewing.renew({}, 3_000);
    expect(renewing.held.ageMs('shop')).toBe(2_000);
  });

  it('says nothing of a session that was overtaken while it was made', async () => {
    const renewing = new Renewing();
    const renewal = renewing.wish();
    await renewing.clock.advance(0);
    renewing.holding(FENCE + 2);
    await renewing.clock.advance(50);
    await renewal;
    expect(renewing.events.of('session_adopted')).toEqual([]);
  });

  it('has what a person should know of the times of its session told', async () => {
    const renewing = new Renewing();
    renewing.gateway.answerNext({ gatewayDate: renewing.clock.now() });
    await renewing.renew({}, 50);
    expect(renewing.names.slice(3)).toEqual(['clock_skew']);
  });
});
