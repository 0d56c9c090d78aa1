import type { OnApplicationShutdown } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Clock } from '#libs/clock';
import type { BrokerConfiguration } from '#libs/configuration';
import { RateLimiter } from '#libs/edge';
import { BrokerError } from '#libs/errors';
import { type AuditLog, type AuditRecord, createAuditLog } from '#libs/telemetry';
import type { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import type { Platform } from '../platform/platform.js';

/** A record that cannot be written is reported in the log, and the broker goes on: payments matter more. */
export function openAuditLog({ audit, merchants }: BrokerConfiguration, { clock, logger }: Platform): AuditLog {
  const onFailure = (error: unknown): void => logger.error({ error }, 'an audit record was not written');
  const auditLog = createAuditLog({ destination: audit.destination, clock, onFailure });
  auditLog.append({ action: 'configuration.load', outcome: 'allowed', count: merchants.length });
  return auditLog;
}

export interface SessionRead {
  readonly caller: string;
  readonly merchant: string;
  readonly generation: number;
}

type Refused = Omit<AuditRecord, 'outcome' | 'count'>;

/** The record of a request about a merchant. */
export function recordOf(
  action: string,
  request: FastifyRequest<{ Params: { readonly merchant: string } }>,
): Pick<AuditRecord, 'action' | 'caller' | 'merchant' | 'requestId'> {
  return { action, caller: request.caller?.name, merchant: request.params.merchant, requestId: request.id };
}

interface Tally {
  readonly reader: Pick<SessionRead, 'caller' | 'merchant'>;
  generation: number;
  /** Reads of this generation not yet covered by a record. */
  unrecorded: number;
}

/** Callers without a credential must not be able to fill the disk. */
const REFUSALS = { perSecond: 10, burst: 100 };

/**
 * Who read what and when. The first read by each caller of each merchant and generation gets its own record; after
 * that, one record covers every `audit.readEvery` reads. Everything else is recorded in full. Whatever is still
 * unrecorded when the app closes is recorded then. Only callers that a policy allows are counted, so there are never
 * more tallies than the policies have pairs.
 */
export class AuditTrail implements OnApplicationShutdown {
  readonly #tallies = new Map<string, Tally>();
  readonly #refusals: RateLimiter;
  /** Refusals not yet covered by a record, and the latest of them. */
  #leftOut: { readonly record: Refused; readonly count: number } | undefined;

  constructor(
    private readonly log: AuditLog,
    private readonly configuration: Pick<ConfigurationInForce, 'current'>,
    clock: Clock,
  ) {
    this.#refusals = new RateLimiter(REFUSALS, clock);
  }

  /**
   * On the path of every read: a map lookup, and rarely more. A new generation closes the tally of the one before it,
   * so no read goes unrecorded.
   */
  read({ generation, ...reader }: SessionRead): void {
    const tally = this.#tallyOf(reader);
    if (tally.generation !== generation) {
      this.#tellRest(tally);
      tally.generation = generation;
      this.done({ action: 'session.read', ...reader, generation });
      return;
    }
    tally.unrecorded += 1;
    if (tally.unrecorded >= this.configuration.current.audit.readEvery) this.#tellRest(tally);
  }

  done(record: Omit<AuditRecord, 'outcome'>): void {
    this.log.append({ ...record, outcome: 'allowed' });
  }

  /**
   * Records in full what a known caller asked for and did not get: each such request counted against the caller's rate,
   * and must not get lost among refusals of unknown callers. Success is recorded by the code that calls this.
   * @throws whatever the work throws
   */
  async attempt<Result>(record: Refused, work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      const reason = error instanceof BrokerError ? error.code : 'internal_error';
      this.log.append({ ...record, reason, outcome: 'refused' });
      throw error;
    }
  }

  /** The first record written after some were left out also counts them. */
  refused(record: Refused): void {
    const count = (this.#leftOut?.count ?? 0) + 1;
    if (this.#refusals.take('all') > 0) {
      this.#leftOut = { record, count };
      return;
    }
    this.#leftOut = undefined;
    this.#tellRefusals(record, count);
  }

  /** No request is in progress any more, so there is no next read or refusal to wait for. */
  onApplicationShutdown(): void {
    for (const tally of this.#tallies.values()) this.#tellRest(tally);
    if (this.#leftOut !== undefined) this.#tellRefusals(this.#leftOut.record, this.#leftOut.count);
    this.#leftOut = undefined;
  }

  /** Records the reads of a generation not yet covered by a record. */
  #tellRest(tally: Tally): void {
    const { reader, generation, unrecorded } = tally;
    tally.unrecorded = 0;
    if (unrecorded > 0) this.done({ action: 'session.read', ...reader, generation, count: unrecorded });
  }

  #tellRefusals(record: Refused, count: number): void {
    this.log.append({ ...record, outcome: 'refused', ...(count === 1 ? {} : { count }) });
  }

  #tallyOf(reader: Tally['reader']): Tally {
    // The id of a merchant has no space in it.
    const key = `${reader.merchant} ${reader.caller}`;
    const tally = this.#tallies.get(key) ?? { reader, generation: 0, unrecorded: 0 };
    this.#tallies.set(key, tally);
    return tally;
  }
}
