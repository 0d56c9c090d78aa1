import { fail } from 'node:assert/strict';
import { type Replica, serviceCodeOf, TOKEN, WatchedReplicas } from './watched-replicas.js';

const SHOP = { id: 'shop', lifetimeMs: 3_600_000, timeout: '60s' };

/** A broker as a separate process with its own environment, and all that must not show up of it. */
export class ObservedBroker {
  /** Sessions that it has handed out: to reads, and in place of one that was rejected. */
  reads = 0;
  /** What must not show up anywhere. */
  readonly secrets: string[] = [TOKEN, serviceCodeOf(0)];
  readonly #watched: WatchedReplicas;
  readonly #broker: Replica;

  private constructor(watched: WatchedReplicas) {
    this.#watched = watched;
    this.#broker = watched.replicas[0] ?? fail('it has not been started');
    this.secrets.push(...watched.privateJwks.map(({ d = fail('a key without its private part') }) => d));
  }

  /** @param setUp further sections of the configuration, and faults that the sandbox has before the broker starts */
  static async start(
    environment: Record<string, string> = {},
    { sections = {}, faults = [] }: { readonly sections?: object; readonly faults?: readonly object[] } = {},
  ): Promise<ObservedBroker> {
    const wish = { environment, faults, sections: { log: { level: 'debug' }, ...sections } };
    return new ObservedBroker(await WatchedReplicas.alone([SHOP], wish));
  }

  get managementUrl(): string {
    return `http://${this.#broker.management}`;
  }

  get lines(): Record<string, unknown>[] {
    const lines = this.#broker.process.out.trim().split('\n');
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** A session that was handed out counts as a secret from then on. */
  async session(headers: Record<string, string> = {}): Promise<{ generation: number }> {
    return this.#note(await this.#watched.ask('shop', '/session', { headers: { prefer: 'wait=10', ...headers } }));
  }

  async reject(generation: number, headers: Record<string, string> = {}): Promise<{ generation: number }> {
    const body = JSON.stringify({ generation, reason: 'b_expired_token' });
    return this.#note(await this.#watched.ask('shop', '/session/rejections', { method: 'POST', body, headers }));
  }

  /** @returns the status of a POST to a path below the merchant */
  async post(path: string, body: object): Promise<number> {
    const init = { method: 'POST', body: JSON.stringify(body) };
    return (await this.#watched.ask('shop', path, init)).status;
  }

  /** A plain read, as consumers do all day. */
  async read(headers: Record<string, string> = {}): Promise<number> {
    const response = await this.#watched.ask('shop', '/session', { headers });
    if (response.ok) this.reads += 1;
    await response.arrayBuffer();
    return response.status;
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.managementUrl}/metrics`)).text();
  }

  /** @returns the exit code */
  async stop(): Promise<number | null> {
    this.#broker.process.signal('SIGTERM');
    const code = await this.#broker.process.ended;
    await this.#watched.stop();
    return code;
  }

  async #note(response: Response): Promise<{ generation: number }> {
    const session = (await response.json()) as { generation: number; authToken: string; deviceId: string };
    if (!response.ok) return session;
    this.reads += 1;
    this.secrets.push(session.authToken, session.deviceId);
    return session;
  }
}
