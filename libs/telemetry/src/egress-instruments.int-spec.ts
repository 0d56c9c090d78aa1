import { FakeClock } from '#libs/testing';
import { createEgressInstruments, type EgressInstruments, type EgressSessionGauges } from './egress-instruments.js';
import { createLogger } from './logger.js';
import { startTelemetry, type Telemetry } from './telemetry.js';

describe('the metrics of the egress', () => {
  let telemetry: Telemetry;
  let instruments: EgressInstruments;
  const clock = new FakeClock('2026-01-01T00:00:00.000Z');

  beforeAll(async () => {
    const logger = createLogger({ name: 'egress', level: 'error' });
    telemetry = await startTelemetry({ serviceName: 'session-egress', serviceVersion: '1', logger });
    instruments = createEgressInstruments(telemetry.meter, clock);
  });
  afterAll(() => telemetry.shutdown());

  /** Our samples, without the lines that describe them. */
  const samples = async (): Promise<string[]> => {
    const text = await new Promise<string>((resolve) => {
      telemetry.scrape({ headers: {} }, { writeHead: () => undefined, end: (body) => resolve(String(body)) });
    });
    return text.split('\n').filter((line) => line.startsWith('session_egress_'));
  };

  it('begin at zero for the clients of the configuration, count, and stay as they are when it is read again', async () => {
    const route = '/ecom/hpp/**';
    const clients = [
      { client: 'till', merchant: 'kiosk', form: 'plain' },
      { client: 'plugin', merchant: 'kiosk', form: 'alias' },
    ] as const;
    const counted = (times: number): readonly string[] => [
      `session_egress_requests_total{client="till",merchant="kiosk",route="${route}",form="plain",outcome="answered"} 0`,
      `session_egress_requests_total{client="plugin",merchant="kiosk",route="${route}",form="alias",outcome="unknown"} 0`,
      `session_egress_alias_sessions_total{client="plugin",result="given"} ${times}`,
      `session_egress_dead_sessions_total{merchant="kiosk",code="http_401"} ${times}`,
      `session_egress_held_requests_total{merchant="kiosk"} ${3 * times}`,
      `session_egress_repeats_total{merchant="kiosk"} ${times}`,
      `session_egress_config_reload_failures_total ${times}`,
      `session_egress_config_last_reload_successful ${1 - times}`,
      `session_egress_in_flight ${times}`,
    ];
    instruments.begin(clients, [route]);
    expect(await samples()).toEqual(expect.arrayContaining([...counted(0)]));
    instruments.aliasSession('plugin', 'given');
    instruments.deadSession('kiosk', 'http_401');
    instruments.held('kiosk', 3);
    instruments.repeat('kiosk');
    instruments.reloaded(false);
    for (const change of [1, 1, -1] as const) instruments.inFlight(change);
    instruments.begin(clients, [route]);
    expect(await samples()).toEqual(expect.arrayContaining([...counted(1)]));
    expect((await samples()).filter((line) => line.includes('alias_sessions_total{client="till"'))).toEqual([]);
  });

  it('show whether the configuration could be taken when it was last read, and since when the present one is in force', async () => {
    const shown = async (): Promise<string[]> =>
      (await samples()).filter((line) => /_last_reload_|_config_loaded_/.test(line));
    const start = Date.UTC(2026, 0, 1) / 1_000;
    const lines = (isTaken: number, loadedAt: number): string[] => [
      `session_egress_config_last_reload_successful ${isTaken}`,
      `session_egress_config_loaded_timestamp_seconds ${loadedAt}`,
    ];
    await clock.advance(60_000);
    instruments.reloaded(false);
    expect(await shown()).toEqual(lines(0, start));
    instruments.reloaded(true);
    expect(await shown()).toEqual(lines(1, start + 60));
  });

  it('show the session of each merchant as it is now, and nothing of one that is gone', async () => {
    const held = { merchant: 'shop', generation: 7, expiresAtMs: 1_500, isFollowing: true };
    const none = { merchant: 'kiosk', generation: undefined, expiresAtMs: undefined, isFollowing: false };
    let sessions: readonly EgressSessionGauges[] = [held, none];
    instruments.observeSessions(() => sessions);
    const shown = async (): Promise<string[]> =>
      (await samples()).filter((line) => /_session_|_following/.test(line)).sort();
    expect(await shown()).toEqual([
      'session_egress_following{merchant="kiosk"} 0',
      'session_egress_following{merchant="shop"} 1',
      'session_egress_session_expiry_timestamp_seconds{merchant="shop"} 1.5',
      'session_egress_session_generation{merchant="shop"} 7',
    ]);
    sessions = [none];
    expect(await shown()).toEqual(['session_egress_following{merchant="kiosk"} 0']);
  });

  it('have room for more series than the library would keep', async () => {
    for (let client = 0; client < 2_100; client += 1) instruments.aliasSession(`client-${client}`, 'refused');
    const refused = (await samples()).filter((line) => line.includes('result="refused"} 1'));
    expect(refused).toHaveLength(2_100);
  });
});
