import type { Clock } from '#libs/clock';
import { altered } from '../faults/faulty-store.js';
import type { Invariant } from './judge.js';
import type { ReplicaPortsOf, SimulationOptions } from './simulation.js';

/** A mistake that someone might make, and what it breaks. */
interface PlantedMistake {
  readonly name: string;
  readonly breaks: Invariant;
  readonly options: SimulationOptions;
}

type Altering = ReturnType<typeof altered>;

const inAdapter = (alter: Altering): SimulationOptions => ({
  alter: (ports) => ({ ...ports, store: alter(ports.store) }),
});

const inClock = (alter: (clock: Clock) => Partial<Clock>): SimulationOptions => ({
  alter: (ports: ReplicaPortsOf) => {
    const { clock } = ports;
    const whole = {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      schedule: clock.schedule.bind(clock),
    };
    return { ...ports, clock: { ...whole, ...alter(clock) } };
  },
});

export const plantedMistakes: readonly PlantedMistake[] = [
  {
    name: 'a store that grants a lease to everybody',
    breaks: 'no more create calls than expected',
    options: {
      alterStore: altered('claim', (store) => async (request) => {
        const result = await store.claim({ ...request, owner: 'everybody' });
        if (result.kind !== 'claimed') return result;
        return { kind: 'claimed', lease: { ...result.lease, owner: request.owner } };
      }),
    },
  },
  {
    name: 'a replica that hears no announcement',
    breaks: 'a dead session is not served for long after the last fault',
    options: inAdapter(altered('onAnnouncement', () => () => () => undefined)),
  },
  {
    name: 'a replica that asks the store without a timeout',
    breaks: 'every promise settles',
    options: inAdapter(
      altered('due', (store) => (limit) => store.due(limit).catch(() => new Promise(() => undefined))),
    ),
  },
  {
    name: 'a replica on a slow clock, on which a minute takes longer than a minute',
    breaks: 'no expired session is handed out',
    options: inClock((clock) => ({ monotonicMs: () => 0.9 * clock.monotonicMs() })),
  },
  {
    name: 'a replica that leaves its timers behind',
    breaks: 'no timer is left after the stop',
    options: inClock((clock) => ({
      schedule: (delayMs, task) => {
        clock.schedule(delayMs, task);
        return { cancel: () => undefined };
      },
    })),
  },
];
