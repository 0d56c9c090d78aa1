import type { Order } from './order.js';
import type { PaymentOperation } from './payment-operation.js';

/** Every order and operation, the newest of each up to a limit. */
export class PaymentBook {
  readonly #capacity: number;
  readonly #orders = new Map<string, Order>();
  readonly #operations = new Map<string, PaymentOperation>();
  /** Which merchantRequestIds have been used, and for which kind of request. */
  readonly #used = new Set<string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  addOrder(order: Order): void {
    this.#orders.set(order.hppOrderId, order);
    this.#use('order', order);
    if (this.#orders.size > this.#capacity) dropOldest(this.#orders);
  }

  addOperation(operation: PaymentOperation): void {
    this.#operations.set(operation.operationId, operation);
    this.#use(operation.type, operation);
    if (this.#operations.size > this.#capacity) dropOldest(this.#operations);
  }

  order(hppOrderId: string): Order | undefined {
    return this.#orders.get(hppOrderId);
  }

  operation(operationId: string): PaymentOperation | undefined {
    return this.#operations.get(operationId);
  }

  /** Whether the merchant has already made such a request under this id, and it was accepted. */
  isUsed(kind: 'order' | PaymentOperation['type'], by: RequestName): boolean {
    return this.#used.has(nameOf(kind, by));
  }

  reset(): void {
    this.#orders.clear();
    this.#operations.clear();
    this.#used.clear();
  }

  #use(kind: 'order' | PaymentOperation['type'], by: RequestName): void {
    this.#used.add(nameOf(kind, by));
    if (this.#used.size > this.#capacity * 3) dropOldest(this.#used);
  }
}

interface RequestName {
  readonly merchant: string;
  readonly merchantRequestId: string;
}

function nameOf(kind: string, { merchant, merchantRequestId }: RequestName): string {
  return JSON.stringify([kind, merchant, merchantRequestId]);
}

function dropOldest(entries: { keys(): Iterator<string>; delete(key: string): boolean }): void {
  const oldest = entries.keys().next();
  if (oldest.done !== true) entries.delete(oldest.value);
}
