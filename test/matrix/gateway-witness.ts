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

  /** @returns once the next create call is there, which is not answered: how to release it */
  async stallCall(at?: 'answer'): Promise<() => Promise<unknown>> {
    const { length } = await this.createCalls();
    const release = await this.#watched.holdNextCreateCall(at);
    await this.#watched.createCallsArrived(length + 1);
    return release;
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
