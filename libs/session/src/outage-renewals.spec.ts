import { plusMs } from '#libs/clock';
import { aSession, FakeClock, FakeGateway, type GatewayAnswer, someSettings } from '#libs/testing';
import { CallCeiling } from './call-ceiling.js';
import { GatewayFailure, type GatewayFailureFacts } from './gateway-failure.js';
import { HeldSessions } from './held-sessions.js';
import { OutageRenewals } from './outage-renewals.js';
import type { AttemptResult } from './renewal-attempt.js';
import { FailureBoard } from './failure-board.js';
import type { StoreSilence } from './store-silence.js';

const SEAT = 7;
const busy: GatewayFailureFacts = { kind: 'transient', detail: 'busy', msgCode: 'b_overload_error' };

/** One replica whose store is silent, and what it creates by itself. */
class Alone {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  readonly failures = new FailureBoard();
  readonly ceiling = new CallCeiling(this.clock);
  readonly gateway = new FakeGateway({ clock: this.clock });
  readonly silence = { isLasting: true };
  readonly shutdown = new AbortController();
  settings = someSettings();
  readonly renewals = new OutageRenewals({
    held: this.held,
    failures: this.failures,
    silence: this.silence as StoreSilence,
    ceiling: this.ceiling,
    gateway: this.gateway,
    clock: this.clock,
    random: () => 0.5,
  });

  seated(): this {
    this.renewals.takeSeat(SEAT);
    return this;
  }

  get may(): boolean {
    return this.renewals.mayCreate('shop', this.settings);
  }

  async create(because: 'need' | 'rejection' = 'need', forMs = 0): Promise<AttemptResult> {
    const { settings, shutdown } = this;
    const ended = this.renewals.create({ merchant: 'shop', settings, because, shutdown: shutdown.signal });
    const settled = Promise.allSettled([ended]);
    await this.clock.advance(forMs);
    await settled;
    return ended;
  }

  /** How long the replica then waits on its own. */
  async pauseAfter(answer: GatewayAnswer, because: 'need' | 'rejection' = 'need'): Promise<number> {
    this.gateway.answerNext(answer);
    await this.create(because);
    const endedAtMs = this.clock.monotonicMs();
    while (!this.may) this.clock.freeze(500);
    return this.clock.monotonicMs() - endedAtMs;
  }
}

describe('a replica whose store is silent', () => {
  it('creates nothing before the store has given it a seat', () => {
    const alone = new Alone();
    expect(alone.may).toBe(false);
    expect(alone.seated().may).toBe(true);
  });

  it('creates nothing while the silence may still be a short one', () => {
    const alone = new Alone().seated();
    alone.silence.isLasting = false;
    expect(alone.may).toBe(false);
  });

  it('creates nothing within ten seconds of a call, twice as long after each rejection', async () => {
    const alone = new Alone().seated();
    expect(await alone.pauseAfter({})).toBe(10_000);
    expect(await alone.pauseAfter({}, 'rejection')).toBe(20_000);
    expect(await alone.pauseAfter({}, 'rejection')).toBe(40_000);
    alone.seated();
    expect(await alone.pauseAfter({})).toBe(10_000);
  });

  it('counts its calls against its own ceiling, but for those that reached nobody', async () => {
    const alone = new Alone().seated();
    alone.settings = someSettings({ budget: [{ calls: 1, perMs: 600_000 }] });
    expect(await alone.pauseAfter({ ...busy, wasReached: false })).toBe(10_000);
    expect(await alone.pauseAfter(busy)).toBe(600_000);
  });
});

describe('a session that a replica makes alone', () => {
  it('ages from the gateway’s answer, ends by when it was asked for, and names what it was made after', async () => {
    const alone = new Alone().seated();
    alone.held.adopt(aSession({ generation: 40 }), 0);
    alone.settings = someSettings({ longestLifetimeMs: 60_000 });
    alone.gateway.latencyMs = 300;
    alone.clock.freeze(5_000);
    const expiresAt = plusMs(alone.clock.now(), 60_000);
    const result = await alone.create('need', 300);
    expect(result).toMatchObject({ kind: 'alone', made: { session: { expiresAt }, answeredAtMs: 5_300, known: 40 } });
  });

  const own = 2 * SEAT + 1;
  it.each([
    ['the clock', 0, (_alone: Alone) => undefined],
    ['what it holds', 4e12, (alone: Alone) => alone.held.adopt(aSession({ generation: 4e12 }), 0)],
    ['what it has called under', 4e12, (alone: Alone) => alone.held.noteCalled('shop', 4e12)],
    ['what it cannot open', 4e12, (alone: Alone) => alone.held.noteUnusable('shop', 4e12)],
  ])('has a generation of its seat above %s', async (_name, known, prepare) => {
    const alone = new Alone().seated();
    const above = Math.max(known, alone.clock.now());
    prepare(alone);
    const result = await alone.create();
    const generation = result.kind === 'alone' ? result.made.session.generation : 0;
    expect(generation).toBeGreaterThan(above);
    expect(generation).toBeLessThanOrEqual(above + 2_048);
    expect(generation % 2_048).toBe(own);
  });

  it('leaves no timer behind, nor does one that was not made', async () => {
    const alone = new Alone().seated();
    await alone.create();
    alone.gateway.answerNext(busy);
    await alone.create();
    expect(alone.clock.pendingTasks).toBe(0);
  });
});

describe('a call without a lease that fails', () => {
  it('is told with its code and with the time after which the next one is allowed', async () => {
    const alone = new Alone().seated();
    alone.gateway.answerNext(busy, { kind: 'refused', detail: 'no such merchant' });
    const at = alone.clock.now();
    expect(await alone.create()).toMatchObject({
      kind: 'failed',
      outcome: 'transient',
      retryInMs: 10_000,
      recorded: { kind: 'transient', msgCode: 'b_overload_error', at },
    });
    expect(await alone.create()).toMatchObject({ outcome: 'refused', retryInMs: 10_000 });
  });

  it('puts the next one off for longer each time, until one succeeds', async () => {
    const alone = new Alone().seated();
    const pauses: number[] = [];
    for (const answer of [busy, busy, busy, busy, busy, busy, {}, busy]) pauses.push(await alone.pauseAfter(answer));
    expect(pauses).toEqual([10_000, 10_000, 10_000, 10_000, 16_500, 30_500, 10_000, 10_000]);
  });

  it('is a timeout when it lasts as long as a lease would', async () => {
    const alone = new Alone().seated();
    alone.gateway.latencyMs = 60_000;
    expect(await alone.create('need', 10_000)).toMatchObject({
      kind: 'failed',
      outcome: 'timeout',
      recorded: { kind: 'timeout' },
    });
    expect(alone.clock.monotonicMs()).toBe(10_000);
  });

  it('is not the gateway’s fault when a shutdown has ended it', async () => {
    const alone = new Alone().seated();
    alone.gateway.latencyMs = 60_000;
    alone.clock.schedule(1_000, () => alone.shutdown.abort());
    expect(await alone.create('need', 1_000)).toEqual({ kind: 'abandoned' });
  });

  it('is the gateway’s own failure although a shutdown has begun', async () => {
    const alone = new Alone().seated();
    alone.shutdown.abort();
    alone.gateway.createSession = () => Promise.reject(new GatewayFailure(busy));
    expect(await alone.create()).toMatchObject({ kind: 'failed', outcome: 'transient' });
  });

  it('is a bug of ours when no gateway has answered so', async () => {
    const alone = new Alone().seated();
    const bug = new TypeError('not a function');
    alone.gateway.createSession = () => Promise.reject(bug);
    await expect(alone.create()).rejects.toBe(bug);
    expect(alone.clock.pendingTasks).toBe(0);
  });
});
