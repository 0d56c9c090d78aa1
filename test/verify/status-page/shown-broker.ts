import { fail } from 'node:assert/strict';
import { type Replica, serviceCodeOf, WatchedReplicas } from '../../observability/watched-replicas.js';

/**
 * Lifetimes: of a session that is renewed while the test watches, of one that is not, and of one whose renewal is to
 * fail.
 */
const LIFETIMES = { shop: 4_000, steady: 900_000, kiosk: 16_000 } as const;
export const LONG_ID = `a-merchant-with-the-longest-id-that-there-can-be-${'x'.repeat(14)}`;

/** A broker with a status page, which can be stopped and started on the same port. */
export class ShownBroker {
  readonly #watched: WatchedReplicas;
  #isStopped = false;

  private constructor(watched: WatchedReplicas) {
    this.#watched = watched;
  }

  static async start(): Promise<ShownBroker> {
    const merchants = Object.entries({ ...LIFETIMES, [LONG_ID]: 900_000 }).map(([id, lifetimeMs]) => ({
      id,
      lifetimeMs,
      required: id !== 'kiosk',
      // Half of the lifetime is left to see the kiosk's renewals fail: several seconds, since a browser on a busy
      // machine may stall for some.
      session: { renewBefore: id === 'kiosk' ? '50%' : '20%', budget: [{ calls: 1_000, per: '10m' }] },
    }));
    return new ShownBroker(await WatchedReplicas.alone(merchants, {}));
  }

  get replica(): Replica {
    return this.#watched.replicas[0] ?? fail('it has not been started');
  }

  get url(): string {
    return `http://${this.replica.management}/`;
  }

  /** What the broker knows of its merchants that must not show: service codes, and members of the private keys. */
  get secrets(): readonly unknown[] {
    const keys = this.#watched.privateJwks;
    return keys.flatMap(({ d, x, y }, index) => [d, x, y, serviceCodeOf(index)]);
  }

  /** Includes the session's secrets: nothing of it may show. */
  async sessionOf(merchant: string): Promise<Record<string, unknown>> {
    return (await (await this.#watched.ask(merchant, '/session', {})).json()) as Record<string, unknown>;
  }

  async fail(merchant: string): Promise<void> {
    const body = { kind: 'error', status: 503, msgCode: 'b_server_is_overloaded', operation: 'authorize', merchant };
    await this.#watched.control('POST', '/faults', body);
  }

  async heal(): Promise<void> {
    await this.#watched.control('DELETE', '/faults');
  }

  /** Does nothing if it is running. */
  async startBroker(): Promise<void> {
    if (this.#isStopped) await this.#watched.restart(0);
    this.#isStopped = false;
  }

  async stopBroker(): Promise<void> {
    await this.#watched.end(0);
    this.#isStopped = true;
  }

  stop(): Promise<void> {
    return this.#watched.stop();
  }
}
