import { msBetween, plusMs, toRfc3339, type Clock, type Instant } from '#libs/clock';
import { sealCompact } from '../crypto/compact-jwe.js';
import type { Merchant } from '../merchants/merchant.js';
import type { Waiting } from '../wire/waiting.js';
import type { Delivery, NotificationTargets, Receipt } from './delivery.js';

/** How long after an attempt not answered with 200 the next one is made, as published. */
const REPEAT_AFTER_MS = [5_000, 30_000, 300_000, 1_800_000, 3_600_000];

export interface Notice {
  readonly merchant: Merchant;
  readonly url: string;
  readonly document: object;
  /** Whether it is sent as a JWE to the client's key. */
  readonly isSealed: boolean;
}

interface Entry {
  readonly id: number;
  readonly merchant: string;
  readonly target: string;
  readonly sealed: boolean;
  readonly delivery: Delivery | undefined;
  readonly attempts: (Receipt & { readonly at: string })[];
  /** `blocked`: nothing may be sent to its URL. `given_up`: none of the repetitions was answered with 200. */
  state: 'pending' | 'delivered' | 'given_up' | 'blocked';
  nextAt: Instant | undefined;
}

export interface NotificationParts {
  readonly clock: Clock;
  readonly waiting: Waiting;
  readonly targets: NotificationTargets;
  readonly deliverer: { deliver(delivery: Delivery): Promise<Receipt> };
  /** How many are kept; the oldest is dropped for a newer one. */
  readonly capacity: number;
}

/** Notifications on their way to merchants, repeated until they are answered with 200. */
export class Notifications {
  readonly #parts: NotificationParts;
  readonly #entries = new Map<number, Entry>();
  readonly #underWay = new Set<Promise<void>>();
  #lastId = 0;

  constructor(parts: NotificationParts) {
    this.#parts = parts;
  }

  send({ merchant, url, document, isSealed }: Notice): void {
    const json = JSON.stringify(document);
    const target = this.#parts.targets.allowed(url);
    const entry: Entry = {
      id: (this.#lastId += 1),
      merchant: merchant.id,
      target: target === undefined ? '' : target.origin + target.pathname,
      sealed: isSealed,
      delivery:
        target === undefined
          ? undefined
          : {
              url: target,
              headers: isSealed
                ? { 'content-type': 'text/plain', 'x-encrypted_body': 'true' }
                : { 'content-type': 'application/json' },
              body: isSealed ? sealCompact(json, merchant.publicJwk) : json,
            },
      attempts: [],
      state: target === undefined ? 'blocked' : 'pending',
      nextAt: undefined,
    };
    this.#keep(entry);
    this.#attempt(entry);
  }

  /** Sends it once more, whatever became of it before. @returns whether there is such a notification */
  repeat(id: number): boolean {
    const entry = this.#entries.get(id);
    if (entry?.delivery === undefined) return false;
    this.#attempt(entry);
    return true;
  }

  /** As control requests see them: without their content and without the query of their URL. */
  list(merchant?: string): readonly { readonly id: number; readonly state: string }[] {
    return [...this.#entries.values()]
      .filter((entry) => merchant === undefined || entry.merchant === merchant)
      .map(({ delivery: _delivery, nextAt, ...seen }) => ({
        ...seen,
        attempts: [...seen.attempts],
        ...(nextAt === undefined ? {} : { nextAt: toRfc3339(nextAt) }),
      }));
  }

  /** Resolves once nothing is being sent; whatever waits for its next attempt keeps waiting. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  reset(): void {
    for (const entry of this.#entries.values()) abandon(entry);
    this.#entries.clear();
  }

  #attempt(entry: Entry): void {
    const { delivery } = entry;
    if (delivery === undefined) return;
    const work = this.#deliver(entry, delivery).finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  async #deliver(entry: Entry, delivery: Delivery): Promise<void> {
    const { clock } = this.#parts;
    const startedAt = clock.now();
    entry.nextAt = undefined;
    const receipt = await this.#parts.deliverer.deliver(delivery);
    entry.attempts.push({ at: toRfc3339(startedAt), ...receipt });
    if ('httpStatus' in receipt && receipt.httpStatus === 200) entry.state = 'delivered';
    if (entry.state === 'pending') this.#repeatLater(entry, startedAt);
  }

  #repeatLater(entry: Entry, startedAt: Instant): void {
    const afterMs = REPEAT_AFTER_MS[entry.attempts.length - 1];
    if (afterMs === undefined) {
      entry.state = 'given_up';
      return;
    }
    const nextAt = plusMs(startedAt, afterMs);
    entry.nextAt = nextAt;
    const { clock, waiting } = this.#parts;
    waiting.later(Math.max(0, msBetween(clock.now(), nextAt)), () => {
      if (entry.state === 'pending' && entry.nextAt === nextAt) this.#attempt(entry);
    });
  }

  #keep(entry: Entry): void {
    this.#entries.set(entry.id, entry);
    if (this.#entries.size <= this.#parts.capacity) return;
    const oldest = this.#entries.values().next();
    if (oldest.done === true) return;
    abandon(oldest.value);
    this.#entries.delete(oldest.value.id);
  }
}

function abandon(entry: Entry): void {
  if (entry.state === 'pending') entry.state = 'given_up';
}
