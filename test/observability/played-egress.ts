import { SystemClock } from '#libs/clock';
import { EndedConnections } from '#libs/edge';
import {
  createEgressInstruments,
  createLogger,
  type EgressInstruments,
  type EgressOutcome,
  startTelemetry,
  type Telemetry,
} from '#libs/telemetry';
import { type Management, openManagement } from '../../apps/egress/src/management/management-server.js';

const clock = new SystemClock();
const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const ROUTE = '/ecom/execute_request/**';
const READY = { ready: true, shuttingDown: false, merchants: [] };
const OUTCOMES: readonly EgressOutcome[] = ['answered', 'refused', 'no_session', 'unreachable', 'client_gone'];

/**
 * The instruments and the management port of an egress, with a test that says what has happened. Only one per process.
 * It holds a session of `shop`, which has an hour left.
 */
export class PlayedEgress {
  /** How much longer its certificate is valid. */
  certificateMs = 90 * DAY_MS;
  readonly #instruments: EgressInstruments;

  private constructor(
    private readonly telemetry: Telemetry,
    private readonly management: Management,
    ends: EndedConnections,
  ) {
    this.#instruments = createEgressInstruments(telemetry.meter, clock);
    const names = { client: 'till', merchant: 'shop', form: 'plain' } as const;
    const plugin = { client: 'plugin', merchant: 'shop', form: 'alias' } as const;
    this.#instruments.begin([names, plugin], [ROUTE]);
    const expiresAtMs = clock.now() + HOUR_MS;
    this.#instruments.observeSessions(() => [{ merchant: 'shop', generation: 7, expiresAtMs, isFollowing: true }]);
    this.#instruments.observeConnectionEnds(() => ends.counts);
    this.#instruments.observeCertificates(() => [
      { setting: 'egress.listen.tls.certFile', endsAtMs: clock.now() + this.certificateMs },
    ]);
  }

  static async start(): Promise<PlayedEgress> {
    const logger = createLogger({ name: 'egress', level: 'error' });
    const ends = new EndedConnections();
    const telemetry = await startTelemetry({ serviceName: 'session-egress', serviceVersion: '1', logger });
    const parts = { hosts: [], readiness: () => READY, telemetry, clock, onEnd: ends.of('management') };
    const management = await openManagement({ address: { host: '127.0.0.1', port: 0 }, ...parts });
    return new PlayedEgress(telemetry, management, ends);
  }

  /** host:port of its management port. */
  get target(): string {
    return new URL(this.management.url).host;
  }

  end(outcome: EgressOutcome): void {
    const facts = { client: 'till', merchant: 'shop', route: ROUTE, form: 'plain' } as const;
    this.#instruments.request({ ...facts, outcome }, 0.01);
  }

  /** One of everything, so that every series exists. */
  doEverything(): void {
    for (const outcome of OUTCOMES) this.end(outcome);
    this.end('unknown');
    this.#instruments.repeat('shop');
    this.#instruments.deadSession('shop', 'b_expired_token');
    this.#instruments.held('shop', 3);
    this.#instruments.seemingCard('till', ROUTE);
    this.#instruments.aliasSession('plugin', 'given');
    this.#instruments.reloaded(false);
    this.#instruments.reloaded(true);
  }

  async stop(): Promise<void> {
    await this.management.close();
    await this.telemetry.shutdown();
  }
}
