import { type Instant, VirtualClock } from '#libs/clock';
import { type Merchants, type Session, type SessionEvent, SessionReplica } from '#libs/session';
import { MemorySessionStore } from '#libs/store';
import { PlayedGateway, type SimulationSetup } from './played-gateway.js';

/** A session as adopted by a replica. */
export interface TakenSession {
  readonly atMs: number;
  readonly session: Session;
}

/** What happened. `…AtMs` are milliseconds from the start, all other moments are calendar time. */
export interface SimulationLog {
  readonly startsAt: Instant;
  readonly callsAtMs: readonly number[];
  /** Each as adopted by the replica that created it. */
  readonly sessions: readonly TakenSession[];
  readonly events: readonly SessionEvent[];
  /** May be after the end of the run; absent if no outage has begun. */
  readonly outageEndsAtMs?: number;
}

/** The interval of the broker's own ticks. Between renewals they do nothing, and are skipped. */
const TICK_MS = 1_000;

/** Runs the real renewer of several replicas, with the store in memory, against a played gateway in virtual time. */
export async function simulate(setup: SimulationSetup): Promise<SimulationLog> {
  const { settings, startsAt, merchant } = setup;
  const clock = new PlayedClock(startsAt);
  const random = seededRandom(seedOf(setup.seed, merchant));
  const gateway = new PlayedGateway({ setup, clock, random });
  const store = new MemorySessionStore({ clock });
  const log = { events: [] as SessionEvent[], sessions: [] as TakenSession[] };
  const merchants: Merchants = {
    ids: () => [merchant],
    settingsOf: (id) => (id === merchant ? settings : undefined),
    gatewayIdOf: () => 'simulated',
  };
  const replicas = Array.from({ length: setup.replicas }, (_, index) => {
    const replica: SessionReplica = new SessionReplica({
      ...{ owner: `replica-${index}`, merchants, store, gateway, clock, random },
      events: { emit: (event) => note(event, replica) },
    });
    return replica;
  });
  function note(event: SessionEvent, { held }: SessionReplica): void {
    log.events.push(event);
    const session = event.event === 'session_adopted' && event.source === 'own' ? held.get(merchant) : undefined;
    if (session !== undefined) log.sessions.push({ atMs: clock.monotonicMs(), session });
  }
  await play(replicas, clock, setup);
  const { callsAtMs, outageEndsAtMs } = gateway;
  return { ...log, startsAt, callsAtMs, ...(outageEndsAtMs !== undefined && { outageEndsAtMs }) };
}

async function play(
  replicas: readonly SessionReplica[],
  clock: PlayedClock,
  { durationMs, merchant }: SimulationSetup,
): Promise<void> {
  for (let leftMs = durationMs; leftMs > 0; leftMs = durationMs - clock.monotonicMs()) {
    for (const replica of replicas) void replica.tick();
    await clock.settle();
    const quietMs = Math.min(...replicas.map((replica) => untilItActs(replica, merchant)));
    await clock.advance(Math.min(leftMs, Math.max(TICK_MS, Math.floor(quietMs / TICK_MS) * TICK_MS)));
  }
}

/**
 * Nothing is due before then, or whatever holds the renewal up lasts until then. Anything that does come earlier has a
 * timer of its own.
 */
const untilItActs = (replica: SessionReplica, merchant: string): number =>
  Math.max(replica.held.untilRenewalMs(merchant), replica.retryInMs(merchant) ?? 0);

/**
 * The time of a run in which only promises do any work: no sockets, files or threads. It settles without a turn of the
 * event loop, which costs several times as much as the work of a tick, and a long run has a million ticks.
 */
class PlayedClock extends VirtualClock {
  /** Such a task, when scheduled from within a promise, runs once no promise has anything left to do. */
  override async settle(): Promise<void> {
    await Promise.resolve();
    await new Promise<void>((resolve) => process.nextTick(resolve));
  }
}

/** Numbers in [0, 1) that a seed reproduces (mulberry32), so that a simulation can be replayed. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Gives each merchant of a run its own luck (FNV-1a): what one of them meets says nothing about the next. */
function seedOf(seed: number, merchant: string): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (const byte of Buffer.from(merchant)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
