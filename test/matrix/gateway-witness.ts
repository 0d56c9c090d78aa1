import type { WatchedReplicas } from '../observability/watched-replicas.js';

export interface CreateCall {
  readonly at: string;
  readonly outcome: string;
  readonly durationMs?: number;
  /** The session that it created. */
  readonly session?: number;
}

interface ListedSession {
  readonly id: number;
  readonly state: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly deviceIdSha256: string;
}

/** A session as the gateway knows it. */
export interface GatewaySession {
  readonly deviceIdSha256: string;
  /** When a newer one had been handed over: from then on the broker can know that this one is dead. */
  readonly endedAtMs: number;
  readonly expiresAtMs: number;
}

/** What the simulated gateway, whose new sessions end the previous ones, says about the calls that it received. */
export class GatewayWitness {
  readonly #watched: WatchedReplicas;

  constructor(watched: WatchedReplicas) {
    this.#watched = watched;
  }

  /** Of all merchants, in the order in which they have arrived. */
  async createCalls(): Promise<readonly CreateCall[]> {
    const answer = await this.#watched.control('GET', '/calls?operation=authorize&limit=10000');
    return (answer as { readonly calls: readonly CreateCall[] }).calls;
  }

  /** How many create calls are over, whatever their outcome. */
  async finished(): Promise<number> {
    return (await this.createCalls()).filter(({ outcome }) => outcome !== 'in_flight').length;
  }

  /**
   * Holds the next create call, before it is carried out or before it is answered.
   * @returns once it is there: how to release it
   */
  async stallCall(at: 'arrival' | 'answer' = 'arrival'): Promise<() => Promise<void>> {
    const { length } = await this.createCalls();
    const fault = { kind: 'hold', operation: 'authorize', times: 1, at };
    const { id } = (await this.#watched.control('POST', '/faults', fault)) as { readonly id: number };
    const arrived = `operation=authorize&until=arrived&waitFor=${length + 1}&timeoutMs=60000`;
    await this.#watched.control('GET', `/calls?${arrived}`);
    return async () => void (await this.#watched.control('DELETE', `/faults/${id}`));
  }

  async sessions(): Promise<readonly GatewaySession[]> {
    const [listed, calls] = await Promise.all([this.#listed(), this.createCalls()]);
    const callOf = new Map(calls.map((call) => [call.session, call]));
    const answered = listed.map((session) => answeredAtMs(session, callOf.get(session.id)));
    return listed.map(({ deviceIdSha256, expiresAt }, index) => ({
      deviceIdSha256,
      endedAtMs: Math.min(...answered.slice(index + 1)),
      expiresAtMs: Date.parse(expiresAt),
    }));
  }

  /** The one session of `shop` that the gateway accepts now; undefined if there is none. */
  async live(): Promise<string | undefined> {
    return (await this.#listed()).findLast(({ state }) => state === 'live')?.deviceIdSha256;
  }

  async #listed(): Promise<readonly ListedSession[]> {
    return (await this.#watched.control('GET', '/sessions?merchant=shop')) as ListedSession[];
  }
}

/** Nobody can know of a session whose answer was lost: it counts from its creation. */
function answeredAtMs({ createdAt }: ListedSession, call: CreateCall | undefined): number {
  if (call?.outcome !== 'success') return Date.parse(createdAt);
  return Date.parse(call.at) + (call.durationMs ?? 0);
}
