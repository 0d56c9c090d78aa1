type Listener<Subject> = (subject: Subject) => void;

/** Subscriptions by merchant. A merchant without subscribers costs nothing. */
export class MerchantListeners<Subject> {
  readonly #byMerchant = new Map<string, Set<Listener<Subject>>>();

  /** @returns a function that ends the subscription; the subscriber owns it */
  add(merchant: string, listener: Listener<Subject>): () => void {
    const listeners = this.#byMerchant.get(merchant) ?? new Set();
    this.#byMerchant.set(merchant, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#byMerchant.get(merchant) === listeners) this.#byMerchant.delete(merchant);
    };
  }

  /** A listener that unsubscribes while it is being told does not disturb the others. */
  tell(merchant: string, subject: Subject): void {
    for (const listener of [...(this.#byMerchant.get(merchant) ?? [])]) listener(subject);
  }
}
