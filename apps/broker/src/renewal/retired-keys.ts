import type { Clock, ScheduledTask } from '#libs/clock';
import type { ClientKey } from '#libs/jwe';
import type { Session } from '#libs/session';

interface Retired {
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
  readonly #clock: Clock;
  readonly #sessionOf: SessionOf;
  readonly #retired = new Map<string, readonly Retired[]>();
  #pruning: ScheduledTask | undefined;

  constructor(clock: Clock, sessionOf: SessionOf) {
    this.#clock = clock;
    this.#sessionOf = sessionOf;
  }

  /** @param graceMs how long an attempt in progress may take */
  retire(merchant: string, keys: readonly ClientKey[], graceMs: number): void {
    const graceEndsAtMs = this.#clock.monotonicMs() + graceMs;
    const retired = keys.map((key) => ({ key, graceEndsAtMs }));
    this.#retired.set(merchant, [...retired, ...(this.#retired.get(merchant) ?? [])]);
    this.#pruning ??= this.#pruneLater();
  }

  /** Those still needed, the last retired first. */
  of(merchant: string): readonly ClientKey[] {
    const retired = this.#retired.get(merchant);
    return retired === undefined ? [] : this.#needed(merchant, retired).map(({ key }) => key);
  }

  /** How many are kept in memory. */
  get size(): number {
    return [...this.#retired.values()].reduce((sum, { length }) => sum + length, 0);
  }

  close(): void {
    this.#pruning?.cancel();
    this.#retired.clear();
  }

  #needed(merchant: string, retired: readonly Retired[]): readonly Retired[] {
    const nowMs = this.#clock.monotonicMs();
    const thumbprint = this.#sessionOf(merchant)?.clientKeyThumbprint;
    return retired.filter(({ key, graceEndsAtMs }) => graceEndsAtMs > nowMs || key.thumbprint === thumbprint);
  }

  #pruneLater(): ScheduledTask {
    return this.#clock.schedule(PRUNE_EVERY_MS, () => {
      for (const [merchant, retired] of this.#retired) {
        const needed = this.#needed(merchant, retired);
        if (needed.length === 0) this.#retired.delete(merchant);
        else this.#retired.set(merchant, needed);
      }
      this.#pruning = this.#retired.size === 0 ? undefined : this.#pruneLater();
    });
  }
}
