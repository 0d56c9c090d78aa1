import { plusMs, type Clock, type Instant } from '#libs/clock';
import { GatewayRefusal } from '../gateway/refusal.js';
import type { Order } from './order.js';
import type { PaymentOperation } from './operation.js';

const A_DAY_MS = 86_400_000;
const MAX_ATTEMPTS_A_DAY = 70;

/** A map that keeps the newest entries only. */
export class BoundedMap<T> extends Map<string, T> {
  constructor(private readonly capacity: number) {
    super();
  }

  /** @returns whether an older entry had to go */
  add(key: string, value: T): boolean {
    this.set(key, value);
    const oldest = this.keys().next();
    return this.size > this.capacity && oldest.done !== true && this.delete(oldest.value);
  }
}

/** Every order and operation, the newest of each up to a limit; and the attempts that were made at them. */
export class PaymentBook {
  readonly #orders: BoundedMap<Order>;
  readonly #operations: BoundedMap<PaymentOperation>;
  /** What was done last by a merchantRequestId: undefined for an order that nobody has paid. */
  readonly #byRequest: BoundedMap<PaymentOperation | undefined>;
  readonly #attempts: BoundedMap<{ readonly endsAt: Instant; count: number }>;

  constructor(
    private readonly clock: Clock,
    capacity: number,
  ) {
    this.#orders = new BoundedMap(capacity);
    this.#operations = new BoundedMap(capacity);
    this.#byRequest = new BoundedMap(capacity * 2);
    this.#attempts = new BoundedMap(capacity);
  }

  addOrder(order: Order): void {
    this.#orders.add(order.hppOrderId, order);
    this.#byRequest.add(nameOf(order), undefined);
  }

  addOperation(operation: PaymentOperation): void {
    this.#operations.add(operation.operationId, operation);
    this.#byRequest.add(nameOf(operation), operation);
  }

  order(hppOrderId: string): Order | undefined {
    return this.#orders.get(hppOrderId);
  }

  operation(operationId: string): PaymentOperation | undefined {
    return this.#operations.get(operationId);
  }

  byRequest(by: RequestName): PaymentOperation | undefined {
    return this.#byRequest.get(nameOf(by));
  }

  /** Whether the merchant has already made a request under this id, and it was accepted. */
  isUsed(by: RequestName): boolean {
    return this.#byRequest.has(nameOf(by));
  }

  /**
   * At most seventy attempts at an operation per day, which begins with the first of them.
   * @throws GatewayRefusal `b_txn_not_allowed` for one attempt too many
   */
  attempt(subject: string): void {
    const now = this.clock.now();
    const known = this.#attempts.get(subject);
    if (known === undefined || known.endsAt <= now) {
      this.#attempts.delete(subject);
      this.#attempts.add(subject, { endsAt: plusMs(now, A_DAY_MS), count: 1 });
    } else if ((known.count += 1) > MAX_ATTEMPTS_A_DAY) {
      throw new GatewayRefusal('b_txn_not_allowed');
    }
  }

  reset(): void {
    for (const map of [this.#orders, this.#operations, this.#byRequest, this.#attempts]) map.clear();
  }
}

interface RequestName {
  readonly merchant: string;
  readonly merchantRequestId: string;
}

function nameOf({ merchant, merchantRequestId }: RequestName): string {
  return JSON.stringify([merchant, merchantRequestId]);
}
