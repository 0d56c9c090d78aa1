import type { Clock, ScheduledTask } from '#libs/clock';

/** Merchants whose moments lie this close together are looked at together. */
const BUCKET_MS = 250;

/** When each merchant is looked at again: one moment each, one timer for all of them. */
export class RecheckPlan {
  readonly #clock: Clock;
  readonly #onDue: (merchants: readonly string[]) => void;
  readonly #buckets = new Map<number, Set<string>>();
  readonly #bucketOf = new Map<string, number>();
  #timer: { readonly bucket: number; readonly task: ScheduledTask } | undefined;
  #closed = false;

  constructor(clock: Clock, onDue: (merchants: readonly string[]) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  has(merchant: string): boolean {
    return this.#bucketOf.has(merchant);
  }

  /** Replaces what was planned for the merchant. */
  planIn(merchant: string, delayMs: number): void {
    this.forget(merchant);
    if (this.#closed) return;
    const bucket = Math.ceil((this.#clock.monotonicMs() + delayMs) / BUCKET_MS);
    const merchants = this.#buckets.get(bucket) ?? new Set();
    this.#buckets.set(bucket, merchants.add(merchant));
    this.#bucketOf.set(merchant, bucket);
    if (this.#timer === undefined || bucket < this.#timer.bucket) this.#arm(bucket);
  }

  forget(merchant: string): void {
    const bucket = this.#bucketOf.get(merchant);
    if (bucket === undefined) return;
    this.#bucketOf.delete(merchant);
    const merchants = this.#buckets.get(bucket);
    merchants?.delete(merchant);
    if (merchants?.size === 0) this.#buckets.delete(bucket);
  }

  close(): void {
    this.#closed = true;
    this.#timer?.task.cancel();
    this.#buckets.clear();
    this.#bucketOf.clear();
  }

  #arm(bucket: number): void {
    this.#timer?.task.cancel();
    const delayMs = Math.max(0, bucket * BUCKET_MS - this.#clock.monotonicMs());
    this.#timer = { bucket, task: this.#clock.schedule(delayMs, () => this.#fire(bucket)) };
  }

  #fire(armed: number): void {
    this.#timer = undefined;
    // The awaited moment has come, even if the clock's fractions make it fall short by a hair.
    const now = Math.max(armed, Math.floor(this.#clock.monotonicMs() / BUCKET_MS));
    const due: string[] = [];
    for (const [bucket, merchants] of this.#buckets) {
      if (bucket <= now) due.push(...merchants);
    }
    for (const merchant of due) this.forget(merchant);
    if (this.#buckets.size > 0) this.#arm([...this.#buckets.keys()].reduce((first, bucket) => Math.min(first, bucket)));
    if (due.length > 0) this.#onDue(due);
  }
}
