import { setTimeout as pause } from 'node:timers/promises';
import { type Clock, instantFromEpochMs, SystemClock } from '#libs/clock';
import { eventually } from '#libs/testing';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { around, LEASE_MS, renewed } from './case-steps.js';

const AN_HOUR_MS = 3_600_000;

/** A replica whose wall clock is wrong, but not its timers and its monotonic clock. */
class WrongClock extends SystemClock {
  readonly #byMs: number;

  constructor(byMs: number) {
    super();
    this.#byMs = byMs;
  }

  override now(): ReturnType<Clock['now']> {
    return instantFromEpochMs(super.now() + this.#byMs);
  }
}

const processes = { processes: true, expected: 1, extra: 1 } as const;

const GRANTED = /"time":"([^"]+)"[^\n]*"msg":"lease granted"/g;

/** The replica with the lease is the last to say so in its log; there is one grant for each call. */
async function claimant(stage: Stage): Promise<number> {
  const grants = (): { replica: number; at: string }[] =>
    stage.fleet.inService.flatMap((replica) =>
      [...stage.processes.log(replica).matchAll(GRANTED)].map(([, at = '']) => ({ replica, at })),
    );
  const calls = (await stage.gateway.createCalls()).length;
  await eventually(() => grants().length >= calls);
  return grants().sort((one, other) => other.at.localeCompare(one.at))[0]?.replica ?? 0;
}

async function wrongClock(stage: Stage): Promise<void> {
  stage.begin();
  await renewed(stage);
  stage.end();
}

/** Replicas that die, freeze, come and go. */
export const replicaCases: readonly MatrixCase[] = [
  {
    ...processes,
    name: 'killed-before-call',
    done: 'SIGKILL of a replica whose create call the gateway does not carry out; over with its lease',
    play: async (stage: Stage): Promise<void> => {
      await stage.stallCall();
      stage.begin();
      await stage.processes.kill(await claimant(stage));
      await pause(LEASE_MS);
      stage.end();
    },
  },
  {
    ...processes,
    name: 'killed-after-call',
    done: 'SIGKILL of a replica whose create call was carried out; over with its lease',
    goalMs: 2_000,
    play: async (stage: Stage): Promise<void> => {
      await stage.stallCall('answer');
      stage.begin();
      await stage.processes.kill(await claimant(stage));
      await pause(LEASE_MS);
      stage.end();
    },
  },
  {
    ...processes,
    name: 'stopped-0.8s',
    done: 'SIGSTOP of every replica for 0.8 s at a due moment',
    extra: 0,
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(200);
      await around(stage, async () => {
        for (const replica of stage.fleet.inService) stage.processes.signal(replica, 'SIGSTOP');
        await pause(800);
        for (const replica of stage.fleet.inService) stage.processes.signal(replica, 'SIGCONT');
      });
    },
  },
  {
    ...processes,
    name: 'stopped-beyond-lease',
    done: 'SIGSTOP of the claimant during its call, until others have renewed',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      const frozen = await claimant(stage);
      await around(stage, async () => {
        stage.processes.signal(frozen, 'SIGSTOP');
        await letGo();
        await pause(LEASE_MS + 1_500);
        stage.processes.signal(frozen, 'SIGCONT');
      });
    },
  },
  {
    ...processes,
    name: 'stopped-claimant-0.8s',
    done: 'SIGSTOP of the claimant for 0.8 s during its call',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      const frozen = await claimant(stage);
      await around(stage, async () => {
        stage.processes.signal(frozen, 'SIGSTOP');
        await letGo();
        await pause(800);
        stage.processes.signal(frozen, 'SIGCONT');
      });
    },
  },
  {
    ...processes,
    name: 'rolling-restart',
    done: 'every replica is replaced by a new process while a renewal falls due',
    extra: 0,
    firstLifetimeMs: 10_000,
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(2_000);
      await around(stage, async () => {
        for (const old of [...stage.fleet.inService]) {
          await stage.add();
          await stage.fleet.remove(old);
        }
      });
    },
  },
  {
    ...processes,
    name: 'event-loop-blocked',
    done: 'the event loop of one replica stands still for 3 s at a due moment',
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(200);
      await around(stage, async () => {
        stage.processes.signal(0, 'SIGUSR2');
        await pause(3_000);
      });
    },
  },
  ...[1, -1].map((direction): MatrixCase => ({
    name: direction > 0 ? 'clock-ahead' : 'clock-behind',
    done: `the wall clock of one replica is an hour ${direction > 0 ? 'ahead' : 'behind'}`,
    expected: 1,
    extra: 0,
    clockOf: (replica: number): Clock => (replica === 0 ? new WrongClock(direction * AN_HOUR_MS) : new SystemClock()),
    play: wrongClock,
  })),
  ...[1, -1].map((direction): MatrixCase => ({
    name: direction > 0 ? 'clocks-ahead' : 'clocks-behind',
    done: `the wall clocks of all replicas are an hour ${direction > 0 ? 'ahead' : 'behind'}`,
    expected: 1,
    extra: 0,
    clockOf: (): Clock => new WrongClock(direction * AN_HOUR_MS),
    play: wrongClock,
  })),
  {
    name: 'scale-1-8-1',
    done: 'from one replica to eight and back to one while a renewal falls due',
    expected: 1,
    extra: 0,
    replicas: 1,
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(400);
      await around(stage, async () => {
        await Promise.all(Array.from({ length: 7 }, () => stage.add()));
        await eventually(() => stage.isAgreed());
        await pause(500);
        for (const replica of stage.fleet.inService.slice(1)) await stage.fleet.remove(replica);
      });
    },
  },
];
