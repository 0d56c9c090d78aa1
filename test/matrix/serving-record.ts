import { createHash } from 'node:crypto';
import type { GatewaySession } from './gateway-witness.js';

/** A session as a consumer gets it. */
export interface Served {
  readonly generation: number;
  readonly renewAt: string;
  readonly deviceId: string;
}

/** A replica handed out one session, from the first time it was seen to the last. */
interface Span {
  readonly replica: number;
  readonly generation: number;
  readonly deviceIdSha256: string;
  readonly fromMs: number;
  untilMs: number;
}

export interface DeadTimes {
  readonly whileItLastedMs: number;
  readonly afterItEndedMs: number;
}

/** The time an answer takes to arrive: a session that ends in the meantime was alive when it was handed out. */
const IN_TRANSIT_MS = 20;

/** What consumers got from each replica. */
export class ServingRecord {
  readonly #spans: Span[] = [];
  readonly #now = new Map<number, Span>();

  note(replica: number, served: Served | undefined, atMs: number): void {
    const current = this.#now.get(replica);
    if (served === undefined) {
      this.#now.delete(replica);
      return;
    }
    const deviceIdSha256 = createHash('sha256').update(served.deviceId).digest('hex');
    if (current?.deviceIdSha256 === deviceIdSha256 && current.generation === served.generation) {
      current.untilMs = atMs;
      return;
    }
    const { generation } = served;
    const span = { replica, generation, deviceIdSha256, fromMs: atMs, untilMs: atMs };
    this.#now.set(replica, span);
    this.#spans.push(span);
  }

  /** A replica that is gone hands out nothing. */
  gone(replica: number): void {
    this.#now.delete(replica);
  }

  /** Whether each of the replicas hands out this session now. */
  areOn(deviceIdSha256: string | undefined, replicas: readonly number[]): boolean {
    return (
      deviceIdSha256 !== undefined &&
      replicas.every((replica) => this.#now.get(replica)?.deviceIdSha256 === deviceIdSha256)
    );
  }

  generationOf(replica: number): number | undefined {
    return this.#now.get(replica)?.generation;
  }

  /** The longest times for which any replica handed out a session that the gateway had ended. */
  deadTimes(sessions: readonly GatewaySession[], endedMs: number): DeadTimes {
    const ends = new Map(sessions.map(({ deviceIdSha256, endedAtMs }) => [deviceIdSha256, endedAtMs]));
    const dead = this.#spans.flatMap(({ deviceIdSha256, fromMs, untilMs }) => {
      const deadFromMs = Math.max(fromMs, ends.get(deviceIdSha256) ?? 0);
      return untilMs > deadFromMs ? [{ deadFromMs, untilMs }] : [];
    });
    const during = dead.map(({ deadFromMs, untilMs }) => Math.min(untilMs, endedMs) - deadFromMs);
    const after = dead.map(({ deadFromMs, untilMs }) => untilMs - Math.max(deadFromMs, endedMs));
    return { whileItLastedMs: Math.max(0, ...during), afterItEndedMs: Math.max(0, ...after) };
  }

  /** What must not happen, whatever the fault. */
  violations(sessions: readonly GatewaySession[]): readonly string[] {
    const expiries = new Map(sessions.map(({ deviceIdSha256, expiresAtMs }) => [deviceIdSha256, expiresAtMs]));
    const named = new Map<number, string>();
    const found = new Set<string>();
    for (const { replica, generation, deviceIdSha256, untilMs } of this.#spans) {
      const expiresAtMs = expiries.get(deviceIdSha256);
      if (expiresAtMs === undefined) found.add(`replica ${replica} handed out a session that the gateway never made`);
      else if (untilMs > expiresAtMs + IN_TRANSIT_MS) {
        found.add(`replica ${replica} handed out an expired session for ${Math.round(untilMs - expiresAtMs)} ms`);
      }
      if ((named.get(generation) ?? deviceIdSha256) !== deviceIdSha256) found.add('one generation names two sessions');
      named.set(generation, deviceIdSha256);
    }
    for (const replica of new Set(this.#spans.map((span) => span.replica))) {
      const generations = this.#spans.filter((span) => span.replica === replica).map(({ generation }) => generation);
      if (generations.some((generation, index) => generation < (generations[index - 1] ?? 0))) {
        found.add(`the generation of replica ${replica} went back`);
      }
    }
    return [...found];
  }
}
