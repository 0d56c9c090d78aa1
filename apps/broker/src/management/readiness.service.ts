import { Injectable } from '@nestjs/common';
import { SessionReplica } from '#libs/session';
import { RequestLife } from '../http/request-life.js';
import { type StoreCondition, StoreState } from '../renewal/store-state.js';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';

export interface Readiness {
  readonly ready: boolean;
  readonly shuttingDown: boolean;
  /** Required merchants without a session to serve, at most ten of them. */
  readonly missing: readonly string[];
  /** `unknown`: not connected yet. */
  readonly store: StoreCondition | 'unknown';
  /** For a store that cannot be used: the code of its refusal, or what happened to the connection. */
  readonly storeReason?: string;
  /** False until the store has answered once: until then this replica creates nothing. */
  readonly storeReached: boolean;
}

const MAX_NAMED = 10;

/**
 * Ready means useful: the store has been reached, and every required merchant has a session to serve, whatever the
 * store and the gateway are doing now.
 */
@Injectable()
export class ReadinessProbe {
  readonly #required: () => readonly string[];

  constructor(
    configuration: ConfigurationInForce,
    private readonly replica: SessionReplica,
    private readonly life: RequestLife,
    private readonly store: StoreState,
  ) {
    this.#required = configuration.derive(({ merchants }) =>
      merchants.filter(({ required }) => required).map(({ id }) => id),
    );
  }

  check(): Readiness {
    const missing = this.#required().filter((merchant) => this.replica.reader.peek(merchant) === undefined);
    const shuttingDown = this.life.isShuttingDown;
    const { current, trouble, wasReached: storeReached } = this.store;
    const ready = missing.length === 0 && storeReached && !shuttingDown;
    const { condition: store = 'unknown' } = current ?? {};
    const reason = trouble === undefined ? {} : { storeReason: trouble };
    return { ready, shuttingDown, missing: missing.slice(0, MAX_NAMED), store, ...reason, storeReached };
  }
}
