import { SystemClock } from '#libs/clock';
import { EndedConnections } from '#libs/edge';
import {
  createEgressInstruments,
  createLogger,
  type EgressInstruments,
  type EgressOutcome,
  type EgressSessionGauges,
  startTelemetry,
  type Telemetry,
} from '#libs/telemetry';
import { type Management, openManagement } from '../../apps/egress/src/management/management-server.js';

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const ROUTE = '/ecom/execute_request/**';
const READY = { ready: true, shuttingDown: false, merchants: [] };
const OUTCOMES: readonly EgressOutcome[] = ['answered', 'refused', 'no_session', 'unreachable', 'client_gone'];

/**
 * The instruments and the management port of an egress, with a test that says what has happened. Only one per process.
 */
export class PlayedEgress {
  readonly instruments: EgressInstruments;
  /** How much longer its certificate is valid. */
  certificateMs = 90 * DAY_MS;
  readonly #telemetry: Telemetry;
  readonly #management: Management;
  readonly #sessions = new Map<string, EgressSessionGauges>();

  private constructor(telemetry: Telemetry, management: Management) {
    this.#telemetry = telemetry;
    this.#management = management;
    this.instruments = createEgressInstruments(telemetry.meter, new SystemClock());
    const names = { client: 'till', merchant: 'shop', form: 'plain' } as const;
    const plugin = { client: 'plugin', merchant: 'shop', form: 'alias' } as const;
    this.instruments.begin([names, plugin], [ROUTE]);
    this.instruments.observeSessions(() => this.#sessions.values());
  }

  /** With a session of `shop` that has an hour left. */
  static async start(): Promise<PlayedEgress> {
    const logger = createLogger({ name: 'egress', level: 'error' });
    const ends = new EndedConnections();
    const telemetry = await startTelemetry({ serviceName: 'session-egress', serviceVersion: '1', logger });
    const management = await openManagement({
      address: { host: '127.0.0.1', port: 0 },
      hosts: [],
      readiness: () => READY,
      telemetry,
      clock: new SystemClock(),
      onEnd: ends.of('management'),
    });
    const egress = new PlayedEgress(telemetry, management);
    egress.instruments.observeConnectionEnds(() => ends.counts);
    egress.instruments.observeCertificates(() => [
      { setting: 'egress.listen.tls.certFile', endsAtMs: new SystemClock().now() + egress.certificateMs },
    ]);
    egress.hold('shop');
    return egress;
  }

  /** host:port of its management port. */
  get target(): string {
    return new URL(this.#management.url).host;
  }

  /** @param session differences from a session that is alive and followed */
  hold(merchant: string, session: Partial<EgressSessionGauges> = {}): void {
    const expiresAtMs = new SystemClock().now() + HOUR_MS;
    this.#sessions.set(merchant, { merchant, generation: 7, expiresAtMs, isFollowing: true, ...session });
  }

  end(outcome: EgressOutcome): void {
    const facts = { client: 'till', merchant: 'shop', route: ROUTE, form: 'plain' } as const;
    this.instruments.request({ ...facts, outcome }, 0.01);
  }

  /** One of everything, so that every series exists. */
  doEverything(): void {
    for (const outcome of OUTCOMES) this.end(outcome);
    this.end('unknown');
    this.instruments.repeat('shop');
    this.instruments.deadSession('shop', 'b_expired_token');
    this.instruments.held('shop', 3);
    this.instruments.seemingCard('till', ROUTE);
    this.instruments.aliasSession('plugin', 'given');
    this.instruments.reloaded(false);
    this.instruments.reloaded(true);
  }

  async stop(): Promise<void> {
    await this.#management.close();
    await this.#telemetry.shutdown();
  }
}
