import { randomUUID } from 'node:crypto';
import { type ClientEvent, type Session, SessionBroker, SessionRejected } from '#libs/client';
import { orderRequest } from '../sandbox/order-request.js';
import { CREATE_ORDER } from '../sandbox/payment-desk.js';
import { TOKEN, type WatchedReplicas } from '../observability/watched-replicas.js';
import { atPace } from './rounds.js';

export interface PaymentPlan {
  readonly perSecond: number;
  readonly renewals: number;
  /** Ends the run if the renewals do not come. */
  readonly maxMs: number;
}

/** A time during which a client held back its calls, by the clock of this process. */
export interface MeasuredHold {
  readonly generation: number;
  readonly sinceMs: number;
  /** When none of its calls was running any more. */
  readonly drainedMs: number;
  readonly resumedMs: number;
}

export interface HandoverReport {
  readonly payments: number;
  readonly failed: readonly string[];
  readonly ledger: Readonly<Record<'refused' | 'repeated' | 'lost' | 'doubled', number>>;
  readonly renewals: number;
  /** How long payments waited before they began: those that met a hand-over, and all the others. */
  readonly heldWaitsMs: readonly number[];
  readonly otherWaitsMs: readonly number[];
  readonly holds: readonly MeasuredHold[];
  readonly longestCreateMs: number;
}

/** One client of one replica, and what happens to it while a session is replaced. */
class PayingClient {
  readonly heldWaitsMs: number[] = [];
  readonly otherWaitsMs: number[] = [];
  readonly holds: MeasuredHold[] = [];
  readonly generations = new Set<number>();
  readonly broker: SessionBroker;
  readonly #sandboxUrl: string;
  #running = 0;
  #hold: { readonly sinceMs: number; drainedMs?: number } | undefined;

  constructor(url: string, fleet: WatchedReplicas) {
    const onEvent = (event: ClientEvent): void => this.#heard(event);
    this.broker = new SessionBroker({ url, merchant: 'shop', auth: TOKEN, onEvent });
    this.#sandboxUrl = fleet.sandboxUrl;
  }

  async pay(): Promise<void> {
    const askedMs = performance.now();
    const isHeld = this.#hold !== undefined;
    // Stays the same on a repeat: that is how the ledger tells one payment from two.
    const merchantRequestId = randomUUID();
    let hasBegun = false;
    await this.broker.withSession(async (session) => {
      if (!hasBegun) (isHeld ? this.heldWaitsMs : this.otherWaitsMs).push(performance.now() - askedMs);
      hasBegun = true;
      this.#running += 1;
      try {
        await this.#order(session, merchantRequestId);
      } finally {
        this.#running -= 1;
        this.#drained();
      }
    });
  }

  async #order(session: Session, merchantRequestId: string): Promise<void> {
    this.generations.add(session.generation);
    const response = await fetch(this.#sandboxUrl + CREATE_ORDER, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api_version': 'V1',
        'x-device_id': session.deviceId,
        'x-refresh_token': session.refreshToken ?? '',
      },
      body: JSON.stringify(orderRequest({ merchantRequestId })),
    });
    const answer = (await response.json()) as { readonly hppOrderId?: string; readonly msgCode?: string };
    if (answer.hppOrderId === undefined) throw new SessionRejected(answer.msgCode ?? `http_${response.status}`);
  }

  #heard(event: ClientEvent): void {
    if (event.type === 'holding') {
      this.#hold = { sinceMs: performance.now() };
      this.#drained();
    } else if (event.type === 'resumed' && this.#hold !== undefined) {
      const resumedMs = performance.now();
      const { generation } = event;
      this.holds.push({ generation, resumedMs, drainedMs: resumedMs, ...this.#hold });
      this.#hold = undefined;
    }
  }

  #drained(): void {
    if (this.#hold !== undefined && this.#running === 0) this.#hold.drainedMs ??= performance.now();
  }
}

/** Pays at a steady pace through one client per replica, until this many renewals have passed. */
export async function payThroughRenewals(fleet: WatchedReplicas, plan: PaymentPlan): Promise<HandoverReport> {
  const clients = fleet.replicas.map(({ url }) => new PayingClient(url, fleet));
  for (const { broker } of clients) await broker.session();
  const failed: string[] = [];
  const renewals = (): number => Math.max(...clients.map(({ generations }) => generations.size)) - 1;
  const endsAt = performance.now() + plan.maxMs;
  const paid = await atPace(
    plan.perSecond,
    async (index) => clients[index % clients.length]?.pay().catch((error: unknown) => void failed.push(String(error))),
    () => renewals() < plan.renewals && performance.now() < endsAt,
  );
  await Promise.all(clients.map(({ broker }) => broker.close()));
  return {
    payments: paid.length,
    failed,
    ledger: await ledgerOf(fleet, paid.length),
    renewals: renewals(),
    heldWaitsMs: clients.flatMap(({ heldWaitsMs }) => heldWaitsMs),
    otherWaitsMs: clients.flatMap(({ otherWaitsMs }) => otherWaitsMs),
    holds: clients.flatMap(({ holds }) => holds),
    longestCreateMs: await longestCreateMs(fleet),
  };
}

/** What the gateway has counted for this number of payments. */
export async function ledgerOf(fleet: WatchedReplicas, payments: number): Promise<HandoverReport['ledger']> {
  const { totals } = (await fleet.control('GET', '/ledger?limit=0')) as {
    readonly totals: {
      readonly accepted: number;
      readonly repeated: number;
      readonly doubled: number;
      readonly refusedByReason: Readonly<Record<string, number>>;
    };
  };
  const refused = Object.values(totals.refusedByReason).reduce((sum, times) => sum + times, 0);
  return { refused, repeated: totals.repeated, lost: payments - totals.accepted, doubled: totals.doubled };
}

async function longestCreateMs(fleet: WatchedReplicas): Promise<number> {
  const { calls } = (await fleet.control('GET', '/calls?operation=authorize&limit=1000')) as {
    readonly calls: readonly { readonly durationMs?: number }[];
  };
  return Math.max(...calls.map(({ durationMs = 0 }) => durationMs));
}
