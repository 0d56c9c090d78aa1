import { aSession, FakeClock, someSettings } from '#libs/testing';
import { HeldSessions } from './held-sessions.js';
import { ReportedDeaths } from './reported-deaths.js';

const SPENT = { kind: 'budget_exhausted', retryInMs: 60_000 } as const;

class Reported {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  configured = ['shop'];
  readonly deaths = new ReportedDeaths({
    held: this.held,
    clock: this.clock,
    merchants: {
      ids: () => this.configured,
      settingsOf: (id) => (this.configured.includes(id) ? someSettings() : undefined),
      gatewayIdOf: () => 'gateway',
    },
  });

  constructor() {
    this.held.adopt(aSession({ generation: 7 }), 0);
  }
}

describe('a session that a consumer has reported dead', () => {
  it('is known as that while nothing newer is held, and says until when the share of the budget is spent', async () => {
    const { clock, deaths, held } = new Reported();
    deaths.note('shop', 7, SPENT);
    expect(deaths.of('shop')?.shareSpentUntil).toBeGreaterThan(clock.now());
    await clock.advance(60_000);
    expect(deaths.of('shop')).toEqual({ generation: 7 });
    held.adopt(aSession({ generation: 8 }), 0);
    expect(deaths.of('shop')).toBeUndefined();
  });

  it.each(['backing_off', 'store_down'] as const)(
    'is known as that when the wish for a newer one ends as %s',
    (kind) => {
      const { deaths } = new Reported();
      deaths.note('shop', 7, { kind, retryInMs: 1 });
      expect(deaths.of('shop')).toEqual({ generation: 7 });
    },
  );

  it('is none while somebody is at it, or has just been', () => {
    const { deaths } = new Reported();
    deaths.note('shop', 7, undefined);
    for (const kind of ['held', 'lost', 'stopping'] as const) deaths.note('shop', 7, { kind, retryInMs: 1 });
    expect(deaths.of('shop')).toBeUndefined();
  });

  it('is known as that for some minutes after the cool-down in which it was reported, and then as a slip', async () => {
    const { clock, deaths } = new Reported();
    deaths.note('shop', 7, { kind: 'cooled_down', retryInMs: 9_000 });
    expect(deaths.of('shop')?.coolsDownUntil).toBeGreaterThan(clock.now());
    await clock.advance(9_000);
    expect(deaths.of('shop')).toEqual({ generation: 7 });
    await clock.advance(300_000);
    expect(deaths.of('shop')).toBeUndefined();
  });

  it('is none any more once it has expired: then nothing of the budget is kept back', async () => {
    const { clock, deaths, held } = new Reported();
    deaths.note('shop', 7, { ...SPENT, retryInMs: 1e9 });
    await clock.advance(held.facts('shop').leftMs);
    expect(deaths.of('shop')).toBeUndefined();
  });

  it('is remembered of configured merchants alone', () => {
    const reported = new Reported();
    reported.deaths.note('shop', 7, SPENT);
    reported.deaths.forget('shop');
    reported.configured = [];
    reported.deaths.note('shop', 7, SPENT);
    expect(reported.deaths.of('shop')).toBeUndefined();
  });
});
