import { Injectable } from '@nestjs/common';
import { SessionReplica } from '#libs/session';
import { RequestLife } from '../http/request-life.js';
import { ConfigurationInForce } from '../reload/configuration-in-force.js';

export interface Readiness {
  readonly ready: boolean;
  readonly shuttingDown: boolean;
  /** Required merchants without a session to serve, at most ten of them. */
  readonly missing: readonly string[];
}

const MOST_NAMED = 10;

/** Ready means useful: every required merchant has a session to serve, whatever store and gateway are doing. */
@Injectable()
export class ReadinessProbe {
  readonly #required: () => readonly string[];

  constructor(
    configuration: ConfigurationInForce,
    private readonly replica: SessionReplica,
    private readonly life: RequestLife,
  ) {
    this.#required = configuration.derive(({ merchants }) =>
      merchants.filter(({ required }) => required).map(({ id }) => id),
    );
  }

  check(): Readiness {
    const missing = this.#required().filter((merchant) => this.replica.reader.peek(merchant) === undefined);
    const shuttingDown = this.life.isShuttingDown;
    return { ready: missing.length === 0 && !shuttingDown, shuttingDown, missing: missing.slice(0, MOST_NAMED) };
  }
}
