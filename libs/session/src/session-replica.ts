import { Alarm, type Clock, Deadline, plusMs } from '#libs/clock';
import type { BrokerError } from '#libs/errors';
import { areForeign, isReportedDead, overAt } from './deaths.js';
import { GatewayFailure } from './gateway-failure.js';
import { Gateways } from './gateways.js';
import { Handovers } from './handovers.js';
import { type Entry, HeldSessions } from './held-sessions.js';
import { type Effect, type Input, publicationOf, step, type Wanted } from './life.js';
import {
  type Cause,
  causeOf,
  conditionOf,
  type MerchantCondition,
  type MerchantFacts,
  type ToldFailure,
} from './merchant-condition.js';
import {
  generationOf,
  knownOf,
  type Merchant,
  type Now,
  serveFactsOf,
  unopenedOf,
  untilRenewalMsOf,
  verdictOn,
} from './merchant.js';
import { isBudgetSpent, retryInMsOf, spentWait } from './obstacles.js';
import { type Merchants, type SessionGateway, type Tracing, untraced } from './ports/replica-ports.js';
import type { SessionEvents } from './ports/session-events.js';
import type {
  Announcement,
  HandoverSignal,
  RecordedFailure,
  RenewalResult,
  SessionStore,
  StoredState,
} from './ports/session-store.js';
import { Lanes, PAGE, Reads } from './reads.js';
import { floorOf } from './session.js';
import { isStoreOutage, outageIn, StoreHealth } from './store-health.js';
import { Wishes } from './wishes.js';

export interface ReplicaPorts {
  /** Names this process in leases; no two processes share one, nor does one process after a restart. */
  readonly owner: string;
  readonly merchants: Merchants;
  readonly store: SessionStore;
  readonly gateway: SessionGateway;
  readonly events: SessionEvents;
  readonly clock: Clock;
  /** Where this replica keeps its sessions, if others need that before the replica exists. Default: its own place. */
  readonly held?: HeldSessions;
  /** In [0, 1). */
  readonly random: () => number;
  /** Default: no tracing. */
  readonly tracing?: Tracing;
  /**
   * After this replica has reached the store, at its start or after an outage, it claims nothing for this long: others
   * that hold something newer than the store are about to say so. Default: there are no others.
   */
  readonly graceMs?: number;
}

/** How the configured merchants differ from the previous ones, by id. */
export interface MerchantsChange {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /**
   * Configured before and after, but with another serviceCode, other keys, another gateway or other session settings.
   */
  readonly changed: readonly string[];
}

type EffectOf<Do extends Effect['do']> = Extract<Effect, { readonly do: Do }>;

/** A question to the store, and what the answer is to the merchant, or that there is none. */
interface Question<Answer> {
  readonly operation: string;
  readonly ask: () => Promise<Answer>;
  readonly told?: (answer: Answer | 'outage' | 'broken') => Input;
}

/** Renewals that one replica has in flight at once: further due merchants wait, and other replicas may take them. */
const MAX_IN_FLIGHT = 64;
/** Offers in flight at once: a store that was emptied is told about every merchant. */
const OFFER_LANES = 8;
/**
 * More than can be taken: listed merchants that are not to be renewed here must not hide those that are. Whoever is
 * hidden all the same looks for itself when it is due.
 */
const MAX_LISTED = 512;
/** What is listed but not taken is looked at again at this pace, however long it has been due. */
const PACE_MS = 100;
/** Moments of merchants that lie this close together come together. */
const TOGETHER_MS = 250;
/** The store's list and our own count of a session's age do not agree to the millisecond. */
const EARLY_MS = 250;

/**
 * One replica of the broker: it carries out what `step` says for each merchant, and feeds it the answers. It decides
 * which merchants are looked at, and how many at once; what becomes of one is decided in life.ts.
 */
export class SessionReplica {
  readonly held: HeldSessions;
  readonly wishes: Wishes;
  readonly handovers: Handovers;
  readonly #ports: ReplicaPorts;
  readonly #tracing: Tracing;
  readonly #health: StoreHealth;
  readonly #gateways = new Gateways();
  readonly #reads: Reads;
  readonly #offers = new Lanes(OFFER_LANES);
  readonly #wakes: Alarm;
  readonly #alarm: Alarm;
  readonly #endSubscription: () => void;
  readonly #shutdown = new AbortController();
  readonly #underway = new Set<Promise<void>>();
  #rounds: Promise<void> | undefined;
  #isAskedAgain = false;
  #inFlight = 0;
  #isStopping = false;

  constructor(ports: ReplicaPorts) {
    const { clock, events, store } = ports;
    this.#ports = ports;
    this.#tracing = ports.tracing ?? untraced;
    this.held = ports.held ?? new HeldSessions(clock);
    this.#health = new StoreHealth(events, clock, ports.graceMs ?? 0);
    this.#reads = new Reads(clock, (ids) =>
      this.#read(ids).then(
        () => true,
        (error: unknown) => {
          this.reportBroken('refresh', error);
          return false;
        },
      ),
    );
    this.#wakes = new Alarm(clock, () => this.#wake());
    this.#alarm = new Alarm(clock, () => void this.tick());
    this.#endSubscription = store.onAnnouncement((announcement) => this.#hear(announcement));
    this.handovers = new Handovers({
      ...ports,
      held: this.held,
      tell: (signal) => this.#tell(signal),
    });
    this.wishes = new Wishes(clock, events, this);
  }

  // ---- What its owner asks of it

  /** To be called at a steady pace; between two ticks the replica wakes itself exactly when the next merchant falls due. */
  tick(): Promise<void> {
    if (this.#isStopping) return this.#rounds ?? Promise.resolve();
    // What is asked for during a round may concern what this has looked at already: one more follows.
    this.#isAskedAgain = this.#rounds !== undefined;
    return (this.#rounds ??= this.#runRounds());
  }

  async #runRounds(): Promise<void> {
    do {
      this.#isAskedAgain = false;
      await this.#round();
    } while (this.#isAskedAgain && !this.#isStopping);
    // In the same step as the last look: a request from now on begins a run of its own.
    this.#rounds = undefined;
  }

  /**
   * The store was found to refuse what replicas ask of it; until `resync` is called, this is the reason given for what
   * is not renewed.
   */
  storeRefuses(): void {
    this.#health.noteRefusal();
  }

  /** The store is back after an outage and may have lost what it knew: reads every merchant again, which makes it known. */
  resync(): Promise<void> {
    this.#health.noteWell();
    this.#health.forget();
    this.#reads.retryNow();
    return this.tick();
  }

  /**
   * To be called when `Merchants` answers differently than before. What is removed is forgotten, what is new is
   * read, and what was changed is tried at once unless it is well; no other merchant is affected. An
   * attempt under way for a removed merchant ends, and its session is not kept. Never rejects.
   */
  async merchantsChanged({ added, removed, changed }: MerchantsChange): Promise<void> {
    for (const id of removed) this.#remove(id);
    try {
      await this.#readPages(added);
    } catch (error) {
      if (!isStoreOutage(error)) return this.reportBroken('change of merchants', error);
      this.#health.forget();
    }
    for (const id of changed) this.#feed(this.held.entryOf(id), { on: 'configured' });
    await this.tick();
  }

  /** Makes no more claims, ends what is in flight within the grace period, frees leases and timers. */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#alarm.close();
    await this.#rounds;
    this.handovers.stop();
    const grace = this.#ports.clock.schedule(graceMs, () => this.#shutdown.abort());
    while (this.#underway.size > 0) await Promise.all(this.#underway);
    grace.cancel();
    this.#endSubscription();
    this.#reads.close();
    this.#wakes.close();
    // What the store has not confirmed dies with this process, unless the store takes it now.
    await this.#offerAll();
  }

  // ---- What is known of a merchant

  isRenewing(id: string): boolean {
    return this.held.of(id).phase.at !== 'idle';
  }

  /** Whether somebody else creates sessions of the merchant, each of which ends ours. */
  hasForeignAuthorizer(id: string): boolean {
    return areForeign(this.held.of(id), this.now(id));
  }

  /** When the next attempt can be made, if something holds it up; undefined if the schedule comes later anyway. */
  retryInMs(id: string): number | undefined {
    const merchant = this.held.of(id);
    const now = this.now(id);
    const retryInMs = retryInMsOf(merchant, now);
    const isWellUntilThen = merchant.failure === undefined && serveFactsOf(merchant, now).freshMs > 0;
    return isWellUntilThen && untilRenewalMsOf(merchant, now) > (retryInMs ?? 0) ? undefined : retryInMs;
  }

  conditionOf(id: string): MerchantCondition {
    return conditionOf(this.facts(id));
  }

  /** What is wrong with the merchant; undefined while all is well. */
  causeFor(id: string): Cause | undefined {
    return causeOf(this.facts(id));
  }

  /** How the last call since the merchant's last session failed, whichever replica made it. */
  failureOf(id: string): ToldFailure | undefined {
    const { failure } = this.held.of(id);
    const newestKey = this.#ports.merchants.newestKeyOf?.(id);
    return failure === undefined || newestKey === undefined ? failure : { ...failure, newestKey };
  }

  // ---- What the faces of this replica ask of it

  /** Wishes for a newer session; all who wish while one is under way share it. Never rejects. */
  async wish(id: string, wanted: Wanted): Promise<RenewalResult> {
    if (this.#ports.merchants.settingsOf(id) === undefined) return { kind: 'stopping', retryInMs: PACE_MS };
    const entry = this.held.entryOf(id);
    return await new Promise((resolve) => {
      entry.sharing.push(resolve);
      this.#feed(entry, { on: 'wanted', ...wanted });
    });
  }

  /** Feeds what a consumer or an operator says. */
  say(id: string, input: Extract<Input, { readonly on: 'rejected' | 'unreplaced' }>): void {
    if (this.#ports.merchants.settingsOf(id) !== undefined) this.#feed(this.held.entryOf(id), input);
  }

  /**
   * Reads one merchant's state; all who ask at once share the question.
   * @param anew a question that is under way already does not count: it may have been answered before what is looked for
   * @returns the outage of the store, in which what is known counts
   */
  async lookUp(id: string, { anew = false } = {}): Promise<BrokerError | undefined> {
    const entry = this.held.entryOf(id);
    if (anew) await entry.question?.catch(() => undefined);
    return await (entry.question ??= this.#read([id])
      .then(() => undefined, outageIn)
      .finally(() => (entry.question = undefined)));
  }

  /** Any failure but an outage is a bug of ours: it is reported once, and the replica carries on. */
  reportBroken(activity: string, error: unknown): void {
    if (!isStoreOutage(error)) this.#ports.events.emit({ event: 'broken', activity, error });
  }

  // ---- One merchant: inputs in, effects out

  #feed(entry: Entry, input: Input): void {
    const before = entry.merchant;
    const now = { ...this.now(before.id), chance: this.#ports.random() };
    const { merchant, effects } = step(before, input, now);
    this.#inFlight += Number(isInFlight(merchant)) - Number(isInFlight(before));
    this.held.keep(entry, merchant);
    if (generationOf(merchant) > generationOf(before)) this.#adopted(entry);
    const { id, failure } = merchant;
    if (failure !== undefined && failure.at !== before.failure?.at)
      this.#gateways.failed(this.#ports.merchants.gatewayIdOf(id), id, failure.kind);
    for (const effect of effects) this.#perform(entry, effect);
    this.#planWake(merchant.wakeAtMs);
  }

  /** One timer for the moments of all, which rings at the earliest: nothing has to be kept in order. */
  #wake(): void {
    const { ms } = this.held.moment;
    let nextMs = Infinity;
    for (const entry of [...this.held.entries]) {
      if (entry.merchant.wakeAtMs <= ms) this.#feed(entry, { on: 'wake' });
      else nextMs = Math.min(nextMs, entry.merchant.wakeAtMs);
    }
    this.#planWake(nextMs);
  }

  #planWake(atMs: number): void {
    const togetherMs = Math.ceil(atMs / TOGETHER_MS) * TOGETHER_MS;
    this.#wakes.in(Math.max(0, togetherMs - this.held.moment.ms));
  }

  /** The world, as far as it concerns the merchant. */
  now(id: string): Now {
    const { clock, merchants } = this.#ports;
    return {
      ...this.held.moment,
      wall: clock.now(),
      chance: 0,
      settings: merchants.settingsOf(id),
      graceMs: this.#health.graceLeftMs,
      isStoreDown: this.#health.trouble !== undefined,
      isStopping: this.#isStopping,
    };
  }

  /** A session may fall due before the next tick; and a gateway that has made one session will make others. */
  #adopted({ merchant: { id } }: Entry): void {
    this.#alarm.in(Math.max(0, this.held.untilRenewalMs(id)));
    const { merchants } = this.#ports;
    for (const other of this.#shuffled(this.#gateways.succeeded(merchants.gatewayIdOf(id), id))) {
      if (this.held.untilRenewalMs(other) > 0 || merchants.settingsOf(other) === undefined) continue;
      this.#feed(this.held.entryOf(other), { on: 'configured' });
    }
  }

  readonly #performers: { readonly [Do in Effect['do']]: (entry: Entry, effect: EffectOf<Do>) => void } = {
    enter: (entry) => {
      entry.gateway = this.#ports.merchants.gatewayIdOf(entry.merchant.id);
      this.#gateways.enter(entry.gateway, () => this.#feed(entry, { on: 'admitted' }));
    },
    hurry: ({ led }) => led?.end('cut'),
    // The trace of a renewal begins with its claim, and contains whatever follows from the answer.
    claim: (entry, { trigger, request }) => {
      const { owner, store } = this.#ports;
      const { id } = entry.merchant;
      const claim = { ...request, owner, floor: floorOf(owner, request.floor) };
      const renewal = this.#tracing.renewal({ merchant: id, trigger }, () => {
        const over = new Promise<RenewalResult>((resolve) => (entry.traced = resolve));
        void this.#ask(entry, {
          operation: 'claim',
          ask: () => this.#tracing.step('claim', () => store.claim(claim)),
          told: (answer) => ({ on: 'claimed', answer }),
        });
        return over;
      });
      renewal.catch((error: unknown) => this.reportBroken('trace', error));
    },
    hand_over: (entry, { lease: { merchant, fence: generation }, limitMs, holdForMs }) =>
      void this.#track(
        this.handovers
          .lead({ merchant, generation, limitMs, holdForMs })
          .then(() => this.#feed(entry, { on: 'handed_over' })),
      ),
    create: (entry, { withinMs }) => {
      const { clock, gateway } = this.#ports;
      const deadline = new Deadline(clock, withinMs, this.#shutdown.signal);
      const call = gateway
        .createSession({ merchant: entry.merchant.id, signal: deadline.signal })
        .then(
          (issued): Input => ({ on: 'created', issued }),
          (error: unknown): Input => {
            if (!(error instanceof GatewayFailure)) throw error;
            return { on: 'not_created', failure: error };
          },
        )
        .then((input) => this.#feed(entry, input))
        .finally(() => deadline.close());
      void this.#track(call, () => this.#feed(entry, { on: 'broke' }));
    },
    publish: (entry, { lease, session, answeredAtMs, afterMs }) => {
      const { store, clock } = this.#ports;
      const publish = (): void => {
        const publication = publicationOf(session, clock.monotonicMs() - answeredAtMs);
        void this.#ask(entry, {
          operation: 'publish',
          ask: () => this.#tracing.step('publish', () => store.publish(publication, lease)),
          told: (answer) => ({ on: 'published', answer, isLast: this.#shutdown.signal.aborted }),
        });
      };
      if (afterMs === 0) return publish();
      void this.#track(new Promise<void>((resolve) => void clock.schedule(afterMs, resolve)).then(publish));
    },
    release: (entry, { lease, release, resumes }) => {
      if (resumes) void this.#tell({ step: 'ended', merchant: lease.merchant, generation: lease.fence });
      void this.#ask(entry, { operation: 'release', ask: () => this.#ports.store.release(lease, release) });
    },
    offer: (entry, { offer }) =>
      this.#offers.run(() =>
        this.#ask(entry, {
          operation: 'publish',
          ask: () => this.#ports.store.publish(offer),
          told: (answer) => ({ on: 'offered', generation: offer.session.generation, answer }),
        }),
      ),
    read: ({ merchant: { id } }, { isUrgent }) => this.#reads.want(id, isUrgent),
    report: (entry, { report }) => {
      entry.judging = this.#ask(entry, {
        operation: 'report',
        ask: () => this.#ports.store.report(entry.merchant.id, report),
        told: (answer) => ({ on: 'reported', report, answer }),
      });
    },
    resync: () => {
      if (this.#health.isRead) this.#health.forget();
    },
    emit: (_entry, { event }) => this.#ports.events.emit(event),
    say: ({ merchant: { id } }, { what }) => {
      const cause = what === 'service_ended' ? this.causeFor(id) : undefined;
      this.#ports.events.emit({ event: what, merchant: id, ...(cause && { cause }) });
    },
    end: (entry, { result }) => {
      const { gateway } = entry;
      entry.gateway = undefined;
      if (gateway !== undefined) this.#gateways.leave(gateway, result.kind === 'failed' ? result.because : undefined);
      entry.traced?.(result);
      entry.traced = undefined;
      for (const resolve of entry.sharing.splice(0)) resolve(result);
      this.#forgetIfRemoved(entry);
    },
  };

  #perform<Do extends Effect['do']>(entry: Entry, effect: EffectOf<Do>): void {
    this.#performers[effect.do](entry, effect);
  }

  /** Asks the store, and feeds the answer back. Never rejects. */
  #ask<Answer>(entry: Entry, { operation, ask, told }: Question<Answer>): Promise<void> {
    const answered = this.#health.watch(operation, ask).catch((error: unknown) => {
      this.reportBroken(operation, error);
      return isStoreOutage(error) ? ('outage' as const) : ('broken' as const);
    });
    return this.#track(answered.then((answer) => void (told && this.#feed(entry, told(answer)))));
  }

  /** What has to be over before this replica has stopped. A bug of ours is reported, and ends what it was part of. */
  #track(work: Promise<void>, onBroken?: () => void): Promise<void> {
    const tracked = work
      .catch((error: unknown) => {
        this.reportBroken('renewal', error);
        onBroken?.();
      })
      .finally(() => this.#underway.delete(tracked));
    this.#underway.add(tracked);
    return tracked;
  }

  #remove(id: string): void {
    const entry = this.held.find(id);
    if (entry === undefined) return;
    entry.led?.end('cut');
    this.#forgetIfRemoved(entry);
  }

  /** As soon as nothing is under way for it. */
  #forgetIfRemoved({ merchant: { id, phase } }: Entry): void {
    if (phase.at === 'idle' && this.#ports.merchants.settingsOf(id) === undefined) this.held.forget(id);
  }

  // ---- All of them: what is heard, read, offered, due

  #hear(announcement: Announcement): void {
    if (announcement.kind === 'handover') return this.handovers.hear(announcement);
    if (announcement.kind === 'gap') return this.#ports.merchants.ids().forEach((id) => this.#reads.want(id));
    const { merchant, generation } = announcement;
    if (this.#ports.merchants.settingsOf(merchant) === undefined) return;
    this.#feed(this.held.entryOf(merchant), { on: 'heard', generation });
  }

  #tell(signal: HandoverSignal): Promise<number | undefined | 'unheard'> {
    const told = this.#health
      .watch('announce', () => this.#ports.store.announce({ kind: 'handover', ...signal }))
      .catch((error: unknown) => {
        this.reportBroken('hand-over', error);
        return 'unheard' as const;
      });
    void this.#track(told.then(() => undefined));
    return told;
  }

  async #read(ids: readonly string[]): Promise<void> {
    const { merchants, store, clock } = this.#ports;
    const { storeClock } = this.held;
    const asked = ids.filter((id) => merchants.settingsOf(id) !== undefined).map((id) => this.held.entryOf(id));
    if (asked.length === 0) return;
    const failures = new Map(asked.map(({ merchant: { id, failure } }) => [id, failure]));
    const wanted = asked.map(({ merchant }) => ({ merchant: merchant.id, known: knownOf(merchant) }));
    const askedAtMs = clock.monotonicMs();
    const { states, now } = await this.#health
      .watch('read', () => store.read(wanted))
      .catch((error: unknown) => {
        storeClock.believeMonotonic();
        throw error;
      });
    const forMs = storeClock.note(now, askedAtMs);
    if (forMs !== undefined) for (const entry of [...this.held.entries]) this.#feed(entry, { on: 'slept', forMs });
    for (const state of states) this.#stored(state, askedAtMs, failures.get(state.merchant));
  }

  #stored(state: StoredState, askedAtMs: number, failureBefore: RecordedFailure | undefined): void {
    const { clock, merchants } = this.#ports;
    const { merchant, stored } = state;
    if (merchants.settingsOf(merchant) === undefined) return;
    // The answer was on its way for at most as long as we waited for it.
    const wayMs = clock.monotonicMs() - askedAtMs;
    const ageMs =
      stored.kind === 'session' ? this.held.storeClock.ageMs(stored.ageMs, stored.session.createdAt) + wayMs : 0;
    this.#feed(this.held.entryOf(merchant), { on: 'stored', state, ageMs, failureBefore });
  }

  async #readPages(ids: readonly string[]): Promise<void> {
    for (let start = 0; start < ids.length; start += PAGE) await this.#read(ids.slice(start, start + PAGE));
  }

  /** Never rejects for an outage of the store: the next tick asks again. */
  async #round(): Promise<void> {
    this.#alarm.cancel();
    try {
      await this.#offerAll();
      if (!this.#health.isRead) {
        await this.#health.readAll(() => this.#readPages(this.#ports.merchants.ids()));
        await this.#offerAll();
      }
      this.#lookAtOne();
      const graceMs = this.#health.graceLeftMs;
      if (graceMs > 0) return this.#alarm.in(graceMs);
      await this.#renewDue();
    } catch (error) {
      // In an outage the store may lose what it knows.
      if (isStoreOutage(error)) this.#health.forget();
      else this.reportBroken('tick', error);
    }
  }

  /** Resolves when the store has answered each offer, or none. What it was not told is offered the next time. */
  async #offerAll(): Promise<void> {
    for (const entry of [...this.held.entries]) {
      const { held } = entry.merchant;
      if (held !== undefined && held.kept !== 'in_store') this.#feed(entry, { on: 'store_back' });
    }
    await this.#offers.idle();
  }

  /** One merchant, picked at random, shows whether the store still has what it had, and how its clock runs. */
  #lookAtOne(): void {
    const { merchants, random } = this.#ports;
    const ids = merchants.ids();
    const id = ids[Math.floor(random() * ids.length)];
    if (id !== undefined) this.#reads.want(id);
  }

  async #renewDue(): Promise<void> {
    const { merchants, store } = this.#ports;
    if (this.#inFlight >= MAX_IN_FLIGHT) return;
    const due = await this.#health.watch('due', () => store.due(MAX_LISTED));
    for (const id of this.#shuffled(due.merchants.filter((listed) => this.#isDueHere(listed)))) {
      if (this.#inFlight >= MAX_IN_FLIGHT || !this.#gateways.hasRoom(merchants.gatewayIdOf(id))) continue;
      const trigger = this.held.generationOf(id) === 0 ? 'startup' : 'schedule';
      this.#feed(this.held.entryOf(id), { on: 'wanted', trigger });
    }
    if (due.nextDueInMs === undefined) return;
    const isListedInVain = due.merchants.length > 0 || due.nextDueInMs <= 0;
    this.#alarm.in(isListedInVain ? Math.max(PACE_MS, due.nextDueInMs) : due.nextDueInMs);
  }

  /**
   * The list is a hint: if a session is far from its renewAt by our own count, either it was to be replaced early, or
   * the store's clock was set, in which case it is renewed by its own moment.
   */
  #isDueHere(id: string): boolean {
    if (this.#ports.merchants.settingsOf(id) === undefined) return false;
    const { failure, held } = this.held.of(id);
    if (this.held.untilRenewalMs(id) <= EARLY_MS || failure !== undefined || held?.isReported === true) return true;
    this.#reads.want(id);
    return false;
  }

  /** Replicas see the same list: with each in an order of its own, they share the work instead of racing for each lease. */
  #shuffled(ids: readonly string[]): readonly string[] {
    return ids
      .map((id) => ({ id, rank: this.#ports.random() }))
      .sort((left, right) => left.rank - right.rank)
      .map(({ id }) => id);
  }

  facts(id: string): MerchantFacts {
    const merchant = this.held.of(id);
    const now = this.now(id);
    const { held, phase } = merchant;
    const spent = spentWait(merchant, now);
    return {
      serving: verdictOn(merchant, now),
      session: held?.session,
      isDue: untilRenewalMsOf(merchant, now) <= 0,
      isRenewing: phase.at !== 'idle',
      failure: this.failureOf(id),
      unopened: unopenedOf(merchant),
      supersedes: now.settings?.supersedes !== false,
      isReportedDead: isReportedDead(merchant, now),
      isForeign: areForeign(merchant, now),
      watchedUntil: overAt(merchant, now),
      spent: spent && { freeAt: plusMs(now.wall, spent.retryInMs), ...(spent.window && { window: spent.window }) },
      isBudgetSpent: isBudgetSpent(merchant, now),
      store: this.#health.trouble,
    };
  }
}

/** Whoever waits for room at the gateway takes none of the room of this replica. */
function isInFlight({ phase }: Merchant): boolean {
  return phase.at !== 'idle' && phase.at !== 'entering';
}
