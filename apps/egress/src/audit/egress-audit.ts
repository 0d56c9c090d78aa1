import type { Clock } from '#libs/clock';
import type { EgressConfiguration } from '#libs/configuration';
import { RateLimiter } from '#libs/edge';
import { type AuditLog, type AuditRecord, createAuditLog, type EgressOutcome, type Logger } from '#libs/telemetry';

/** A request that was sent to the gateway, once its outcome is known, or known to be unknown. */
export interface SentPayment {
  readonly client: string;
  readonly merchant: string;
  /** The configured pattern of the path. */
  readonly route: string;
  /** Of the last session that it was sent with. */
  readonly generation: number;
  readonly outcome: EgressOutcome;
  /** Of the answer to the client; undefined if the client had gone. */
  readonly status: number | undefined;
  readonly requestId: string;
}

/** An alias session that was issued to a client. */
export interface GivenSession {
  readonly client: string;
  readonly merchant: string;
  readonly requestId: string;
}

type Action = 'payment.send' | 'alias_session.create';

/** A configuration that was read while the egress was running. */
export interface ReadConfiguration {
  readonly isTaken: boolean;
  /**
   * Clients in force, and how many are new or gone; for a configuration that was refused, how many it would have
   * removed.
   */
  readonly count?: number;
  readonly added?: number;
  readonly removed?: number;
}

/** A caller whose credential was refused, and who is therefore unknown. */
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
 * Who sent what and when: a record for each request that went to the gateway, and for each alias session. Refused
 * credentials are recorded at a bounded rate; the first record written after some were left out also counts them.
 */
export class EgressAudit {
  readonly #log: AuditLog;
  readonly #refusals: RateLimiter;
  /** Refusals not yet covered by a record, and the latest of them. */
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

  /** No request is in progress any more, so there is no next refusal to wait for. */
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
