import type { Clock } from '#libs/clock';
import type { SessionStore } from '#libs/session';
import type { Invariant } from './judge.js';
import type { ReplicaPortsOf } from './life.js';
import type { SimulationOptions } from './simulation.js';
import { memoryStore } from './store-server.js';

/** A mistake that someone might make, and what it breaks. */
export interface PlantedMistake {
  readonly name: string;
  readonly breaks: Invariant;
  readonly options: SimulationOptions;
}

/** The same store with some of its operations replaced. */
function altered(store: SessionStore, change: (store: SessionStore) => Partial<SessionStore>): SessionStore {
  const changed = change(store);
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(name in changed ? changed : target, name) as unknown;
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

const inStore = (change: (store: SessionStore) => Partial<SessionStore>): SimulationOptions => ({
  makeStore: (clock) => altered(memoryStore(clock), change),
});

const inAdapter = (change: (store: SessionStore) => Partial<SessionStore>): SimulationOptions => ({
  alter: (ports) => ({ ...ports, store: altered(ports.store, change) }),
});

const inReplica = (alter: (ports: ReplicaPortsOf) => Partial<ReplicaPortsOf>): SimulationOptions => ({
  alter: (ports) => ({ ...ports, ...alter(ports) }),
});

/** A clock on which a minute takes longer than a minute. */
const slowClock = (clock: Clock): Clock => ({
  now: clock.now.bind(clock),
  monotonicMs: () => 0.9 * clock.monotonicMs(),
  schedule: clock.schedule.bind(clock),
});

export const plantedMistakes: readonly PlantedMistake[] = [
  {
    name: 'a store that grants a lease to everybody',
    breaks: 'no more create calls than expected',
    options: inStore((store) => ({
      claim: async (request) => {
        const result = await store.claim({ ...request, owner: 'everybody' });
        return result.kind === 'claimed'
          ? { kind: 'claimed', lease: { ...result.lease, owner: request.owner } }
          : result;
      },
    })),
  },
  {
    name: 'a replica that hears no announcement',
    breaks: 'a dead session is not served for long after the last fault',
    options: inAdapter(() => ({ onAnnouncement: () => () => undefined })),
  },
  {
    name: 'a replica that asks the store without a timeout',
    breaks: 'every promise settles',
    options: inAdapter((store) => ({
      due: async (limit) => {
        try {
          return await store.due(limit);
        } catch {
          return new Promise(() => undefined);
        }
      },
    })),
  },
  {
    name: 'a replica on a slow clock',
    breaks: 'no expired session is handed out',
    options: inReplica(({ clock }) => ({ clock: slowClock(clock) })),
  },
  {
    name: 'a replica that leaves its timers behind',
    breaks: 'no timer is left after the stop',
    options: inReplica(({ clock }) => ({
      clock: {
        now: clock.now.bind(clock),
        monotonicMs: clock.monotonicMs.bind(clock),
        schedule: (delayMs, task) => {
          clock.schedule(delayMs, task);
          return { cancel: () => undefined };
        },
      },
    })),
  },
];
