import type { Clock, ScheduledTask } from '#libs/clock';
import type { ClientKey } from '#libs/jwe';
import type { Session } from '#libs/session';

interface Retired {
  readonly merchant: string;
  readonly key: ClientKey;
  readonly graceEndsAtMs: number;
}

/** The session that this replica would serve. */
type SessionOf = (merchant: string) => Session | undefined;

const PRUNE_EVERY_MS = 60_000;

/**
 * Client keys that are no longer configured but still needed: either the current session was made with one, and its
 * payloads cannot be opened with any other, or an attempt was in progress when the key was removed and still has to
 * write its result. They are used for nothing else, and are dropped as soon as neither is true.
 */
export class RetiredKeys {
  /** The last retired first. */
  #retired: readonly Retired[] = [];
  #pruning: ScheduledTask | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly sessionOf: SessionOf,
  ) {}

  /** @param graceMs how long an attempt in progress may take */
  retire(merchant: string, keys: readonly ClientKey[], graceMs: number): void {
    const graceEndsAtMs = this.clock.monotonicMs() + graceMs;
    this.#retired = [...keys.map((key) => ({ merchant, key, graceEndsAtMs })), ...this.#retired];
    this.#pruning ??= this.#pruneLater();
  }

  /** Those still needed, the last retired first. */
  of(merchant: string): readonly ClientKey[] {
    const own = this.#retired.filter((retired) => retired.merchant === merchant && this.#isNeeded(retired));
    return own.map(({ key }) => key);
  }

  /** How many are kept in memory. */
  get size(): number {
    return this.#retired.length;
  }

  close(): void {
    this.#pruning?.cancel();
    this.#retired = [];
  }

  #isNeeded({ merchant, key, graceEndsAtMs }: Retired): boolean {
    if (graceEndsAtMs > this.clock.monotonicMs()) return true;
    return key.thumbprint === this.sessionOf(merchant)?.clientKeyThumbprint;
  }

  #pruneLater(): ScheduledTask {
    return this.clock.schedule(PRUNE_EVERY_MS, () => {
      this.#retired = this.#retired.filter((retired) => this.#isNeeded(retired));
      this.#pruning = this.#retired.length === 0 ? undefined : this.#pruneLater();
    });
  }
}
