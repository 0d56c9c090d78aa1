import type { Clock } from '#libs/clock';
import { createLogger } from '#libs/telemetry';
import { startSandbox } from '../../apps/sandbox/src/sandbox.js';
import { sandboxControl } from '../sandbox/sandbox-control.js';
import type { MatrixMerchant } from './matrix-merchant.js';

/** Presentations fill the gateway's ring buffer of calls: what matters is taken out of it in time. */
const COLLECT_EVERY_MS = 3_000;

export interface CreateCall {
  readonly sequence: number;
  readonly at: string;
  readonly merchant?: string;
  readonly outcome: string;
  readonly faults: readonly string[];
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
  readonly isLive: boolean;
  /** When a newer one had been handed over: from then on the broker can know that this one is dead. */
  readonly endedAtMs: number;
  readonly expiresAtMs: number;
}

export interface WitnessOptions {
  readonly merchants: readonly MatrixMerchant[];
  /** For each merchant, in addition to what is the same in all cases. */
  readonly more: object;
  readonly clock: Clock;
}

/**
 * The simulated gateway, whose new sessions end the previous ones; and what it says about the calls that it received.
 */
export class GatewayWitness {
  readonly url: string;
  readonly #options: WitnessOptions;
  readonly #close: () => Promise<void>;
  readonly #calls = new Map<number, CreateCall>();
  readonly #timer: NodeJS.Timeout;
  /** What the timer has started: it has to end before the gateway does, which would cut it off. */
  #collecting: Promise<void> = Promise.resolve();

  private constructor(options: WitnessOptions, sandbox: { url: string; close(): Promise<void> }) {
    this.#options = options;
    this.url = sandbox.url;
    this.#close = () => sandbox.close();
    this.#timer = setInterval(() => this.#collectAgain(), COLLECT_EVERY_MS);
  }

  static async start(options: WitnessOptions): Promise<GatewayWitness> {
    const { clock } = options;
    const logger = createLogger({ name: 'sandbox', level: 'error' });
    const sandbox = await startSandbox({ host: '127.0.0.1', port: 0, clock, logger });
    return new GatewayWitness(options, sandbox);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    try {
      await this.#collecting;
    } finally {
      await this.#close();
    }
  }

  control(method: string, path: string, body?: object): Promise<unknown> {
    return sandboxControl(this.url, { method, path, body });
  }

  /** How long sessions created from now on live. */
  async setLifetime(lifetimeMs: number): Promise<void> {
    const { merchants, more } = this.#options;
    for (const { id, serviceCode, publicJwk } of merchants) {
      await this.control('POST', '/merchants', { id, serviceCode, publicJwk, lifetimeMs, supersedes: true, ...more });
    }
  }

  /** Sets a fault of create calls. @returns its ID */
  async fault(fault: object): Promise<string> {
    const { id } = (await this.control('POST', '/faults', { operation: 'authorize', ...fault })) as { id: number };
    return String(id);
  }

  async createCalls(): Promise<readonly CreateCall[]> {
    await this.#collect();
    return [...this.#calls.values()].sort((one, other) => one.sequence - other.sequence);
  }

  /** How many create calls are over, whatever their outcome. */
  async finished(): Promise<number> {
    return (await this.createCalls()).filter(({ outcome }) => outcome !== 'in_flight').length;
  }

  /** Resolves once this many create calls have arrived since the start. */
  async arrived(calls: number): Promise<void> {
    await this.control('GET', `/calls?operation=authorize&until=arrived&waitFor=${calls}&timeoutMs=60000&limit=1`);
  }

  async sessions(merchant: string): Promise<readonly GatewaySession[]> {
    const [listed, calls] = await Promise.all([this.#listed(merchant), this.createCalls()]);
    const callOf = new Map(calls.map((call) => [call.session, call]));
    const answered = listed.map((session) => answeredAtMs(session, callOf.get(session.id)));
    return listed.map(({ deviceIdSha256, state, expiresAt }, index) => ({
      deviceIdSha256,
      isLive: state === 'live',
      endedAtMs: Math.min(...answered.slice(index + 1)),
      expiresAtMs: Date.parse(expiresAt),
    }));
  }

  /** The one session that the gateway accepts now; undefined if there is none. */
  async live(merchant: string): Promise<string | undefined> {
    return (await this.#listed(merchant)).findLast(({ state }) => state === 'live')?.deviceIdSha256;
  }

  async #listed(merchant: string): Promise<readonly ListedSession[]> {
    return (await this.control('GET', `/sessions?merchant=${merchant}`)) as ListedSession[];
  }

  #collectAgain(): void {
    this.#collecting = this.#collecting.then(() => this.#collect());
    // A failure is passed on by close().
    this.#collecting.catch(() => undefined);
  }

  async #collect(): Promise<void> {
    const { calls } = (await this.control('GET', '/calls?operation=authorize&limit=10000')) as { calls: CreateCall[] };
    for (const call of calls) this.#calls.set(call.sequence, call);
  }
}

/** Nobody can know of a session whose answer was lost: it counts from its creation. */
function answeredAtMs({ createdAt }: ListedSession, call: CreateCall | undefined): number {
  if (call?.outcome !== 'success') return Date.parse(createdAt);
  return Date.parse(call.at) + (call.durationMs ?? 0);
}
