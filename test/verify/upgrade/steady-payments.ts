import { randomUUID } from 'node:crypto';
import type { Caller, Route } from '../../egress/callers.js';
import { orderRequest, purchaseRequest } from '../../sandbox/order-request.js';
import { CREATE_ORDER, CREATE_PURCHASE } from '../../sandbox/payment-desk.js';

const EVERY_MS = 40;

/** Payments at a steady pace, by each caller on each kind of route in turn, whether or not earlier ones have ended. */
export class SteadyPayments {
  /** By their merchantRequestId. */
  readonly #begun = new Map<string, Promise<void>>();
  readonly #callers: readonly Caller[];
  readonly #sealedCard: string;
  readonly #failed: string[] = [];
  readonly #pace: NodeJS.Timeout;

  constructor(callers: readonly Caller[], sealedCard: string) {
    this.#callers = callers;
    this.#sealedCard = sealedCard;
    this.#pace = setInterval(() => this.#begin(), EVERY_MS);
  }

  get begun(): readonly string[] {
    return [...this.#begun.keys()];
  }

  /** Begins no more. @returns what the clients were told that is no payment, once all have been told */
  async end(): Promise<readonly string[]> {
    clearInterval(this.#pace);
    await Promise.all(this.#begun.values());
    return this.#failed;
  }

  #begin(): void {
    const number = this.#begun.size;
    const caller = this.#callers[number % this.#callers.length];
    const route = Math.floor(number / this.#callers.length) % 2 === 0 ? 'clear' : 'sealed';
    const id = randomUUID();
    if (caller !== undefined) this.#begun.set(id, this.#pay(caller, route, id));
  }

  async #pay(caller: Caller, route: Route, merchantRequestId: string): Promise<void> {
    const ids = { merchantRequestId };
    const members = route === 'clear' ? orderRequest(ids) : purchaseRequest(this.#sealedCard, ids);
    const path = route === 'clear' ? CREATE_ORDER : CREATE_PURCHASE;
    const { status, code, text } = await caller.pay(route, members, { path });
    if (status !== 200 || code !== undefined || !text.includes(merchantRequestId))
      this.#failed.push(`${caller.form} ${route}: ${status} ${code ?? text}`);
  }
}
