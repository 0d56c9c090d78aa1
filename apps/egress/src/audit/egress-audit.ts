import type { Clock } from '#libs/clock';
import type { EgressConfiguration } from '#libs/configuration';
import { RateLimiter } from '#libs/edge';
import { type AuditLog, type AuditRecord, createAuditLog, type EgressOutcome, type Logger } from '#libs/telemetry';

/** A request that was sent to the gateway, once its fate is known, or known to be unknown. */
export interface SentPayment {
  readonly client: string;
  readonly merchant: string;
  /** The configured pattern of the path. */
  readonly route: string;
  /** Of the session that it was sent under last. */
  readonly generation: number;
  readonly outcome: EgressOutcome;
  /** Of the answer to the client; undefined where the client was gone. */
  readonly status: number | undefined;
  readonly requestId: string;
}

/** An alias session that a client was given. */
export interface GivenSession {
  readonly client: string;
  readonly merchant: string;
  readonly requestId: string;
}

type Action = 'payment.send' | 'alias_session.create';

/** A configuration that was read while the egress runs. */
export interface ReadConfiguration {
  readonly isTaken: boolean;
  /** Clients in force, and how many of them are new or gone; with one that is not taken, what it would have removed. */
  readonly count?: number;
  readonly added?: number;
  readonly removed?: number;
}

/** Somebody whose credential was refused; who it is, nobody knows. */
export interface RefusedCaller {
  readonly action: Action;
  readonly route: string;
  /** The code of the refusal. */
  readonly reason: string;
  readonly requestId: string;
}

/** Callers without a credential must not be able to fill the disk. */
const REFUSALS = { perSecond: 10, burst: 100 };

/**
 * Who sent what when: a record for each request that went to the gateway, and for each alias session. Refused
 * credentials are recorded at a bounded rate; the record after some that were left out says how many they were.
 */
export class EgressAudit {
  readonly #log: AuditLog;
  readonly #refusals: RateLimiter;
  /** Refusals that no record stands for yet, and what the last of them was. */
  #leftOut: { readonly record: AuditRecord; readonly count: number } | undefined;

  constructor(log: AuditLog, clock: Clock) {
    this.#log = log;
    this.#refusals = new RateLimiter(REFUSALS, clock);
  }

  sent({ client, merchant, route, generation, outcome, status, requestId }: SentPayment): void {
    this.#log.append({
      action: 'payment.send' satisfies Action,
      caller: client,
      merchant,
      route,
      generation,
      result: outcome,
      status,
      requestId,
      outcome: 'allowed',
    });
  }

  aliasSessionGiven({ client, merchant, requestId }: GivenSession): void {
    const action: Action = 'alias_session.create';
    this.#log.append({ action, caller: client, merchant, requestId, outcome: 'allowed' });
  }

  configurationRead({ isTaken, ...counts }: ReadConfiguration): void {
    this.#log.append(
      isTaken
        ? { action: 'configuration.load', outcome: 'allowed', ...counts }
        : { action: 'configuration.change', outcome: 'refused', reason: 'configuration_invalid', ...counts },
    );
  }

  refused({ action, route, reason, requestId }: RefusedCaller): void {
    const record: AuditRecord = { action, route, reason, requestId, outcome: 'refused' };
    const count = (this.#leftOut?.count ?? 0) + 1;
    this.#leftOut = { record, count };
    if (this.#refusals.take('all') === 0) this.#tellLeftOut();
  }

  /** No request is under way any more: there is no next refusal to wait for. */
  close(): void {
    this.#tellLeftOut();
  }

  #tellLeftOut(): void {
    if (this.#leftOut === undefined) return;
    const { record, count } = this.#leftOut;
    this.#leftOut = undefined;
    this.#log.append({ ...record, ...(count === 1 ? {} : { count }) });
  }
}

interface AuditParts {
  readonly configuration: Pick<EgressConfiguration, 'audit' | 'clients'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A record that cannot be written is reported in the log, and the egress goes on: payments matter more. */
export function openEgressAudit({ configuration: { audit, clients }, clock, logger }: AuditParts): EgressAudit {
  const onFailure = (error: unknown): void => logger.error({ error }, 'an audit record was not written');
  const log = createAuditLog({ destination: audit.destination, clock, onFailure });
  log.append({ action: 'configuration.load', outcome: 'allowed', count: clients.length });
  return new EgressAudit(log, clock);
}
