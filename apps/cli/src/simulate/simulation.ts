import type { Instant } from '#libs/clock';
import { type Merchants, type Session, type SessionEvent, SessionReplica, type SessionSettings } from '#libs/session';
import { MemorySessionStore } from '#libs/store';
import { PlayedClock } from './played-clock.js';
import { type GatewayBehaviour, PlayedGateway } from './played-gateway.js';
import { seededRandom, seedOf } from './seeded-random.js';

export interface SimulationSetup {
  /** Decides its place in the quiet hours. */
  readonly merchant: string;
  readonly startsAt: Instant;
  readonly settings: SessionSettings;
  readonly behaviour: GatewayBehaviour;
  readonly replicas: number;
  readonly durationMs: number;
  readonly seed: number;
}

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
  /** When the spent budget refused a renewal. */
  readonly heldUpAtMs: readonly number[];
  /** May be after the end of the run; absent if no outage has begun. */
  readonly outageEndsAtMs?: number;
}

/** The interval of the broker's own ticks. Between renewals they do nothing, and are skipped. */
const TICK_MS = 1_000;

/** Runs the real renewer of several replicas, with the store in memory, against a played gateway in virtual time. */
export async function simulate(setup: SimulationSetup): Promise<SimulationLog> {
  const { settings, behaviour, durationMs, startsAt, merchant } = setup;
  const clock = new PlayedClock(startsAt);
  const random = seededRandom(seedOf(setup.seed, merchant));
  const timeoutMs = settings.gatewayTimeoutMs;
  const gateway = new PlayedGateway({ behaviour, clock, random, timeoutMs, outageAfterMs: durationMs / 2 });
  const store = new MemorySessionStore({ clock });
  const log = { events: [] as SessionEvent[], sessions: [] as TakenSession[], heldUpAtMs: [] as number[] };
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
    if (isHeldUp(event)) log.heldUpAtMs.push(clock.monotonicMs());
    const session = event.event === 'session_adopted' && event.source === 'own' ? held.get(merchant) : undefined;
    if (session !== undefined) log.sessions.push({ atMs: clock.monotonicMs(), session });
  }
  await play(replicas, clock, setup);
  await close(replicas, clock);
  await store.close();
  const { callsAtMs, outageEndsAtMs } = gateway;
  return { ...log, startsAt, callsAtMs, ...(outageEndsAtMs === undefined ? {} : { outageEndsAtMs }) };
}

export const isHeldUp = (event: SessionEvent): boolean =>
  event.event === 'claim_refused' && event.reason === 'budget_exhausted';

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

/** A call in flight needs time to pass before it ends, and this is the most that it takes. */
async function close(replicas: readonly SessionReplica[], clock: PlayedClock): Promise<void> {
  const stopped = Promise.all(replicas.map((replica) => replica.stop(0)));
  await clock.advance(TICK_MS);
  await stopped;
}
