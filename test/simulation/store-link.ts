import type { ScheduledTask } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import type { Announcement, SessionStore } from '#libs/session';
import type { RandomStream } from './random-streams.js';
import type { ReplicaProcess } from './replica-process.js';
import type { ArgumentsOf, ResultOf, StoreCall, StoreOperation } from './store-calls.js';
import type { StoreServer } from './store-server.js';
import type { VirtualWorld } from './virtual-world.js';
import { befalls, type Weather } from './weather.js';

/** An adapter gives up on a question after this. */
const COMMAND_TIMEOUT_MS = 500;
const MIN_TRIP_MS = 0.1;
const MAX_TRIP_MS = 1.5;

export interface StoreLinkParts {
  readonly world: VirtualWorld;
  readonly weather: Weather;
  readonly server: StoreServer;
  readonly process: ReplicaProcess;
  /** The number of the replica that this process is a life of. */
  readonly replica: number;
  readonly random: RandomStream;
  /** Called for every question when it is asked, whatever becomes of it. */
  readonly asked: (call: StoreCall) => void;
}

/** What a replica's adapter and the network make of the store: any request and any answer can be late or lost. */
export class StoreLink implements SessionStore {
  readonly #parts: StoreLinkParts;
  readonly #listeners = new Set<(announcement: Announcement) => void>();
  readonly #endSubscription: () => void;

  constructor(parts: StoreLinkParts) {
    this.#parts = parts;
    this.#endSubscription = parts.server.onAnnouncement((announcement) => this.#announced(announcement));
  }

  due(...args: ArgumentsOf<'due'>): Promise<ResultOf<'due'>> {
    return this.#ask({ operation: 'due', args });
  }

  claim(...args: ArgumentsOf<'claim'>): Promise<ResultOf<'claim'>> {
    return this.#ask({ operation: 'claim', args });
  }

  publish(...args: ArgumentsOf<'publish'>): Promise<ResultOf<'publish'>> {
    return this.#ask({ operation: 'publish', args });
  }

  release(...args: ArgumentsOf<'release'>): Promise<ResultOf<'release'>> {
    return this.#ask({ operation: 'release', args });
  }

  report(...args: ArgumentsOf<'report'>): Promise<ResultOf<'report'>> {
    return this.#ask({ operation: 'report', args });
  }

  read(...args: ArgumentsOf<'read'>): Promise<ResultOf<'read'>> {
    return this.#ask({ operation: 'read', args });
  }

  announce(...args: ArgumentsOf<'announce'>): Promise<ResultOf<'announce'>> {
    return this.#ask({ operation: 'announce', args });
  }

  onAnnouncement(listener: (announcement: Announcement) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  close(): Promise<void> {
    this.#endSubscription();
    return Promise.resolve();
  }

  /** Tells the replica something that the store may never have said. */
  hear(announcement: Announcement): void {
    this.#parts.process.arrive(() => {
      for (const listener of [...this.#listeners]) listener(announcement);
    });
  }

  #ask<Operation extends StoreOperation>(
    call: StoreCall & { readonly operation: Operation },
  ): Promise<ResultOf<Operation>> {
    const { process, server, asked, world } = this.#parts;
    asked(call);
    const askedAtMs = world.nowMs;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => reject(new BrokerError('store_unavailable', { detail: 'no answer in time' }));
      const timer = this.#timeOut(giveUp);
      process.leave(call.operation, () => {
        this.#travel(() => {
          server.handle(late(call, world.nowMs - askedAtMs), (answer) => {
            this.#travel(() => {
              process.answer(call.operation, () => {
                timer.cancel();
                if (answer.kind === 'answered') resolve(answer.applied.result as ResultOf<Operation>);
                else reject(asError(answer.error));
              });
            });
          });
        });
      });
    });
  }

  /** The adapter's own timer: a refused connection is known at once, everything else takes its time. */
  #timeOut(giveUp: () => void): ScheduledTask {
    const { world, weather, process } = this.#parts;
    const isUnreachable = weather.of('store_silent').some(({ how }) => how === 'unreachable');
    return world.after(isUnreachable ? MAX_TRIP_MS : COMMAND_TIMEOUT_MS, () => process.arrive(giveUp));
  }

  #travel(arrive: () => void): void {
    const { world, weather, replica, random } = this.#parts;
    let tripMs = random.between(MIN_TRIP_MS, MAX_TRIP_MS);
    for (const { whom, loss, lateMs } of weather.of('network')) {
      if (!befalls(whom, replica)) continue;
      if (random.chance(loss)) return;
      tripMs += random.between(0, lateMs);
    }
    world.after(tripMs, arrive);
  }

  #announced(announcement: Announcement): void {
    const { weather, replica, random, world } = this.#parts;
    if (weather.of('store_silent').length > 0) return;
    let copies = 1;
    let lateMs = 0;
    for (const fault of weather.of('announcements')) {
      if (!befalls(fault.whom, replica)) continue;
      if (random.chance(fault.loss)) return;
      copies = fault.copies;
      lateMs = fault.lateMs;
    }
    for (let copy = 0; copy < copies; copy += 1) {
      this.#travel(() => world.after(random.between(0, lateMs), () => this.hear(announcement)));
    }
  }
}

/** As the adapter for Redis sees to it: the time on its way makes older what is published or reported. */
function late(call: StoreCall, waitedMs: number): StoreCall {
  if (call.operation === 'report') {
    const [merchant, report] = call.args;
    return { ...call, args: [merchant, { ...report, ageMs: report.ageMs + waitedMs }] };
  }
  if (call.operation !== 'publish') return call;
  const [{ session, ageMs, nextDueInMs }, ...lease] = call.args;
  const publication = { session, ageMs: ageMs + waitedMs, nextDueInMs: Math.max(0, nextDueInMs - waitedMs) };
  return { ...call, args: [publication, ...lease] };
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error('the store threw what is not an error', { cause: thrown });
}
