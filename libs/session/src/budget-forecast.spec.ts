import { plusMs } from '#libs/clock';
import { aSession, FakeClock, RecordedEvents, someSettings } from '#libs/testing';
import { BudgetForecast } from './budget-forecast.js';
import { HeldSessions } from './held-sessions.js';
import type { Merchants } from './ports/merchants.js';

const QUARTER_MS = 900_000;

class Forecasting {
  readonly events = new RecordedEvents();
  readonly held = new HeldSessions(new FakeClock());
  settings: ReturnType<Merchants['settingsOf']> = someSettings();
  readonly forecast = new BudgetForecast({
    ...{ events: this.events, held: this.held },
    merchants: { ids: () => ['shop'], settingsOf: () => this.settings, gatewayIdOf: () => 'gateway' },
  });
  #generation = 0;

  adopts(lifetimeMs: number, source: 'own' | 'store' = 'own'): void {
    const generation = (this.#generation += 2);
    const session = aSession({ generation });
    this.held.adopt({ ...session, expiresAt: plusMs(session.createdAt, lifetimeMs) }, 0);
    this.forecast.emit({
      event: 'session_adopted',
      merchant: 'shop',
      generation,
      source,
      ageMs: 0,
      serverKeyChanged: false,
    });
  }

  get told(): readonly number[] {
    return this.events.of('budget_too_small').map(({ lifetimeMs }) => lifetimeMs);
  }
}

describe('a budget that cannot carry the schedule', () => {
  it('is told with the first session, and with no later one that lives as long', () => {
    const seen = new Forecasting();
    seen.adopts(QUARTER_MS);
    expect(seen.events.all.map(({ event }) => event)).toEqual(['session_adopted', 'budget_too_small']);
    expect(seen.events.of('budget_too_small')).toEqual([
      expect.objectContaining({
        ...{ merchant: 'shop', mendedBy: 'bank' },
        windows: [{ calls: 60, perMs: 86_400_000, needed: 124 }],
      }),
    ]);
    for (const lifetimeMs of [QUARTER_MS - 1_800, QUARTER_MS, QUARTER_MS + 5_000]) seen.adopts(lifetimeMs);
    expect(seen.told).toEqual([QUARTER_MS]);
  });

  it('is told of a session that another replica has made', () => {
    const seen = new Forecasting();
    seen.adopts(QUARTER_MS, 'store');
    expect(seen.told).toEqual([QUARTER_MS]);
  });

  it('is told again of sessions that live otherwise, and not of those that it can carry', () => {
    const seen = new Forecasting();
    for (const lifetimeMs of [QUARTER_MS, 28_800_000, QUARTER_MS, QUARTER_MS / 3]) seen.adopts(lifetimeMs);
    expect(seen.told).toEqual([QUARTER_MS, QUARTER_MS / 3]);
  });

  it('is told at once of settings that were changed, and not of those that mend it', () => {
    const seen = new Forecasting();
    seen.settings = someSettings({ budget: [{ calls: 150, perMs: 86_400_000 }] });
    seen.adopts(QUARTER_MS);
    expect(seen.told).toEqual([]);
    seen.settings = someSettings();
    seen.forecast.settingsChanged('shop');
    expect(seen.told).toEqual([QUARTER_MS]);
    seen.settings = undefined;
    seen.forecast.settingsChanged('shop');
    expect(seen.told).toHaveLength(1);
  });

  it('passes every event on as it is', () => {
    const seen = new Forecasting();
    seen.forecast.emit({ event: 'store_recovered' });
    expect(seen.events.all).toEqual([{ event: 'store_recovered' }]);
  });
});
