import { BrokerError } from '#libs/errors';
import { aBudget, aSession, FakeClock, RecordedEvents, someSettings } from '#libs/testing';
import { shareOf, Claims, isScheduled, type RenewalRequest } from './claims.js';
import { HeldSessions } from './held-sessions.js';
import { HoldOffs } from './hold-offs.js';
import { MomentWatches } from './moment-watches.js';
import type { RenewalTrigger } from './ports/session-events.js';
import type { ClaimRefusal, ClaimRequest, ClaimResult, SessionStore } from './ports/session-store.js';
import { untraced } from './ports/tracing.js';

const notDue: ClaimRefusal = { kind: 'not_due', retryInMs: 1_000 };
const silent = new BrokerError('store_unavailable');

function aRequest(overrides: Partial<RenewalRequest> = {}): RenewalRequest {
  return { merchant: 'shop', trigger: 'schedule', newerThan: 0, coolDownMs: 0, ...overrides };
}

/** One replica's claims, at a store that answers what the test says, half a second later. */
class Claimant {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  readonly holdOffs = new HoldOffs(this.clock);
  readonly watches = new MomentWatches(this.clock);
  readonly events = new RecordedEvents();
  readonly wishes: ClaimRequest[] = [];
  readonly steps: string[] = [];
  answer: ClaimResult | Error = notDue;
  readonly #claims = new Claims({
    owner: 'replica-1',
    held: this.held,
    holdOffs: this.holdOffs,
    watches: this.watches,
    store: { claim: (wish: ClaimRequest) => this.#answer(wish) } as unknown as SessionStore,
    events: this.events,
    clock: this.clock,
    tracing: { ...untraced, step: (step, run) => (this.steps.push(step), run()) },
  });

  claim(request: RenewalRequest = aRequest(), settings = someSettings()): ReturnType<Claims['claim']> {
    return this.#claims.claim(request, settings);
  }

  async wishOf(request: RenewalRequest): Promise<ClaimRequest | undefined> {
    await this.claim(request);
    return this.wishes.at(-1);
  }

  /** Moments that have been watched to their end. */
  watchedOut(...kinds: readonly ('lease' | 'due' | 'cool_down')[]): this {
    for (const kind of kinds) this.watches.see('shop', kind, { mark: `the ${kind}`, inMs: 0 });
    this.clock.freeze(250);
    return this;
  }

  #answer(wish: ClaimRequest): Promise<ClaimResult> {
    this.wishes.push(wish);
    this.clock.freeze(500);
    return this.answer instanceof Error ? Promise.reject(this.answer) : Promise.resolve(this.answer);
  }
}

describe('the share of a budget', () => {
  const table = {
    'is all of it for what replaces nothing early': [20, 0, 20],
    'is three quarters for what does': [20, 1, 15],
    'is whole calls: the rest is kept': [7, 10_000, 5],
    'is one of two': [2, 10_000, 1],
    'is one of one': [1, 10_000, 1],
  } as const;

  it.each(Object.entries(table))('%s', (_name, [calls, coolDownMs, share]) => {
    expect(shareOf(aRequest({ coolDownMs }), aBudget({ calls, perMs: 5_000 }))).toEqual([
      { calls: share, perMs: 5_000 },
    ]);
  });
});

describe('a claim', () => {
  it('says who asks for what, and what it has to be above', async () => {
    const claimant = new Claimant();
    claimant.held.noteCalled('shop', 40);
    await claimant.claim(
      aRequest({ newerThan: 12, coolDownMs: 10_000 }),
      someSettings({ gatewayTimeoutMs: 7_000, budget: aBudget({ calls: 8, perMs: 5_000 }) }),
    );
    expect(claimant.wishes).toEqual([
      {
        merchant: 'shop',
        owner: 'replica-1',
        leaseMs: 12_000,
        mode: 'when_due',
        newerThan: 12,
        floor: 40,
        budget: [
          { calls: 6, perMs: 5_000 },
          { calls: 18, perMs: 86_400_000 },
        ],
        coolDownMs: 10_000,
        ignoresBackOff: false,
      },
    ]);
    expect(claimant.steps).toEqual(['claim']);
  });

  const triggers: Readonly<Record<RenewalTrigger, boolean>> = {
    startup: true,
    schedule: true,
    demand: false,
    rejection: false,
    operator: false,
  };

  it.each(Object.entries(triggers))('of the trigger %s waits for the due moment: %s', async (trigger, waits) => {
    const request = aRequest({ trigger: trigger as RenewalTrigger });
    expect(isScheduled(request)).toBe(waits);
    expect((await new Claimant().wishOf(request))?.mode).toBe(waits ? 'when_due' : 'when_wanted');
    expect((await new Claimant().wishOf({ ...request, isOverdue: true }))?.mode).toBe('when_wanted');
    expect((await new Claimant().wishOf({ ...request, isOverdue: false }))?.mode).toBe(
      waits ? 'when_due' : 'when_wanted',
    );
    expect((await new Claimant().watchedOut('due').wishOf(request))?.mode).toBe(waits ? 'when_due' : 'when_wanted');
    expect((await new Claimant().watchedOut('lease').wishOf(request))?.mode).toBe('when_wanted');
  });

  it('ignores the back-off only when its reason is gone, or the replica that was to renew has died', async () => {
    const asked = async (claimant: Claimant, ignoresBackOff?: boolean): Promise<unknown> =>
      (await claimant.wishOf(aRequest(ignoresBackOff === undefined ? {} : { ignoresBackOff })))?.ignoresBackOff;
    expect(await asked(new Claimant())).toBe(false);
    expect(await asked(new Claimant(), false)).toBe(false);
    expect(await asked(new Claimant(), true)).toBe(true);
    expect(await asked(new Claimant().watchedOut('due', 'cool_down'))).toBe(false);
    expect(await asked(new Claimant().watchedOut('lease'))).toBe(true);
  });

  it('names the moment that was watched to its end: first a lease, then what is due, then a cool-down', async () => {
    const named = async (...kinds: readonly ('lease' | 'due' | 'cool_down')[]): Promise<unknown> =>
      (await new Claimant().watchedOut(...kinds).wishOf(aRequest()))?.watched;
    expect(await named('cool_down', 'due', 'lease')).toBe('the lease');
    expect(await named('cool_down', 'due')).toBe('the due');
    expect(await named('cool_down')).toBe('the cool_down');
    expect(await new Claimant().wishOf(aRequest())).not.toHaveProperty('watched');
  });
});

describe('the answer to a claim', () => {
  const lease = { merchant: 'shop', owner: 'replica-1', fence: 42, remainingMs: 10_000, failures: 2 };

  it('is a lease that ends as if it had been granted when it was asked for', async () => {
    const claimant = new Claimant();
    claimant.clock.freeze(3_000);
    claimant.answer = { kind: 'claimed', lease };
    expect(await claimant.claim()).toEqual({ kind: 'claimed', lease: { lease, endsAtMs: 13_000 } });
    expect(claimant.events.all).toEqual([{ event: 'lease_granted', merchant: 'shop', trigger: 'schedule' }]);
    expect(claimant.holdOffs.find('shop', 10_000)).toBeUndefined();
  });

  it('is that somebody else was faster, and sets nothing', async () => {
    const claimant = new Claimant();
    claimant.held.adopt(aSession({ generation: 10 }), 0);
    claimant.answer = { kind: 'already_newer', generation: 1e15 };
    expect(await claimant.claim(aRequest({ trigger: 'demand' }))).toEqual({ kind: 'already_newer' });
    expect(claimant.events.all).toEqual([
      { event: 'claim_refused', merchant: 'shop', trigger: 'demand', reason: 'already_newer' },
    ]);
    expect([claimant.held.floor('shop'), claimant.holdOffs.find('shop', 10_000)]).toEqual([10, undefined]);
  });

  it.each(['held', 'not_due', 'backing_off', 'cooled_down', 'budget_exhausted'] as const)(
    'is told as it is when it is a refusal: %s',
    async (kind) => {
      const claimant = new Claimant();
      const refusal: ClaimRefusal = { kind, retryInMs: 1_000, mark: 'its mark' };
      claimant.answer = refusal;
      expect(await claimant.claim()).toEqual(refusal);
      expect(claimant.events.all).toEqual([
        { event: 'claim_refused', merchant: 'shop', trigger: 'schedule', reason: kind },
      ]);
      expect(claimant.holdOffs.find('shop', 10_000)).toEqual(kind === 'not_due' ? undefined : refusal);
    },
  );

  it('of a budget is told apart where it was a share that is spent, which holds off nobody who needs a session', async () => {
    const claimant = new Claimant();
    claimant.answer = { kind: 'budget_exhausted', retryInMs: 1_000 };
    expect(await claimant.claim(aRequest({ trigger: 'rejection', coolDownMs: 10_000 }))).toEqual(claimant.answer);
    expect(claimant.events.all).toEqual([
      { event: 'claim_refused', merchant: 'shop', trigger: 'rejection', reason: 'share_spent' },
    ]);
    expect(claimant.holdOffs.find('shop', 10_000)).toEqual(claimant.answer);
    expect(claimant.holdOffs.find('shop', 0)).toBeUndefined();
    expect(claimant.holdOffs.isBudgetSpent('shop')).toBe(true);
  });

  it('of anything but a budget or a cool-down holds off everybody, though it was an early one that was refused', async () => {
    const claimant = new Claimant();
    claimant.answer = { kind: 'held', retryInMs: 1_000 };
    await claimant.claim(aRequest({ trigger: 'rejection', coolDownMs: 10_000 }));
    expect(claimant.holdOffs.find('shop', 0)).toEqual(claimant.answer);
  });

  it('has its moment watched, so that a claim names it once it is over', async () => {
    const claimant = new Claimant();
    claimant.answer = { kind: 'held', retryInMs: 1_000, mark: 'the lease' };
    await claimant.claim();
    claimant.clock.freeze(1_249);
    expect(claimant.watches.over('shop', 'lease')).toBeUndefined();
    claimant.clock.freeze(1);
    expect(claimant.watches.over('shop', 'lease')).toBe('the lease');
  });

  const leaseWatch: Readonly<Record<string, readonly [ClaimResult | Error, boolean]>> = {
    'stays watched while somebody holds it': [{ kind: 'held', retryInMs: 500, mark: 'the lease' }, true],
    'stays watched while the store is silent': [silent, true],
    'is forgotten when it was granted': [{ kind: 'claimed', lease }, false],
    'is forgotten when something newer is there': [{ kind: 'already_newer', generation: 9 }, false],
    'is forgotten when something else refuses': [{ kind: 'cooled_down', retryInMs: 500 }, false],
  };

  it.each(Object.entries(leaseWatch))('of which the lease %s', async (_name, [answer, isWatched]) => {
    const claimant = new Claimant().watchedOut('lease', 'due');
    claimant.answer = answer;
    await claimant.claim().catch((error: unknown) => expect(error).toBe(silent));
    expect(claimant.watches.over('shop', 'lease')).toBe(isWatched ? 'the lease' : undefined);
    expect(claimant.watches.over('shop', 'due')).toBe('the due');
  });

  it('is thrown on as it is when the store gave none, and nothing is reported', async () => {
    const claimant = new Claimant();
    claimant.answer = silent;
    await expect(claimant.claim()).rejects.toBe(silent);
    expect(claimant.events.all).toEqual([]);
    expect(claimant.holdOffs.find('shop', 10_000)).toBeUndefined();
  });
});
