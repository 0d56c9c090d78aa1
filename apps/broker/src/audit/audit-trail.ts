import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '#libs/clock';
import type { AuditLog, AuditRecord } from '#libs/telemetry';
import { RateLimiter } from '../rate-limit/rate-limiter.js';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { AUDIT_LOG, CLOCK } from '../platform/tokens.js';

export interface SessionRead {
  readonly caller: string;
  readonly merchant: string;
  readonly generation: number;
}

interface Tally {
  generation: number;
  /** Reads of this generation that no record stands for yet. */
  untold: number;
}

/** Whoever has no credential must not fill the disk. */
const REFUSALS = { perSecond: 10, burst: 100 };

/**
 * Who read what when. Of reads, the first of each caller, merchant and generation is told, and then every so many-th
 * with the number that it stands for; everything else is told in full. Only callers that a policy allows are counted,
 * so that there are no more tallies than the policies have pairs.
 */
@Injectable()
export class AuditTrail {
  readonly #log: AuditLog;
  readonly #configuration: Pick<ConfigurationInForce, 'current'>;
  readonly #tallies = new Map<string, Map<string, Tally>>();
  readonly #refusals: RateLimiter;
  #untoldRefusals = 0;

  constructor(
    @Inject(AUDIT_LOG) log: AuditLog,
    @Inject(ConfigurationInForce) configuration: Pick<ConfigurationInForce, 'current'>,
    @Inject(CLOCK) clock: Clock,
  ) {
    this.#log = log;
    this.#configuration = configuration;
    this.#refusals = new RateLimiter(REFUSALS, clock);
  }

  /** On the path of every read: a look into a map, and seldom more. */
  read({ caller, merchant, generation }: SessionRead): void {
    const tally = this.#tallyOf(caller, merchant);
    tally.untold += 1;
    if (tally.generation === generation && tally.untold < this.#configuration.current.audit.readEvery) return;
    this.#tell({ caller, merchant, generation: tally.generation, untold: tally.untold - 1 }, generation);
    tally.generation = generation;
    tally.untold = 0;
  }

  done(record: Omit<AuditRecord, 'outcome'>): void {
    this.#log.append({ ...record, outcome: 'allowed' });
  }

  /** The record that comes after some that were too many says how many they were. */
  refused(record: Omit<AuditRecord, 'outcome' | 'count'>): void {
    if (this.#refusals.take('all') > 0) {
      this.#untoldRefusals += 1;
      return;
    }
    const count = this.#untoldRefusals + 1;
    this.#untoldRefusals = 0;
    this.#log.append({ ...record, outcome: 'refused', ...(count === 1 ? {} : { count }) });
  }

  /** A new generation closes the tally of the one before it, so that no read goes untold. */
  #tell(before: SessionRead & { untold: number }, generation: number): void {
    const { caller, merchant, untold } = before;
    const record = { action: 'session.read', outcome: 'allowed', caller, merchant } as const;
    if (before.generation === generation) {
      this.#log.append({ ...record, generation, count: untold + 1 });
      return;
    }
    if (untold > 0) this.#log.append({ ...record, generation: before.generation, count: untold });
    this.#log.append({ ...record, generation });
  }

  #tallyOf(caller: string, merchant: string): Tally {
    const own = this.#tallies.get(caller) ?? new Map<string, Tally>();
    const tally = own.get(merchant) ?? { generation: 0, untold: 0 };
    this.#tallies.set(caller, own.set(merchant, tally));
    return tally;
  }
}
