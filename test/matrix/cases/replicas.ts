import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '#libs/testing';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { around, LEASE_MS } from './case-steps.js';

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

/** Claimants that die or freeze. */
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
];
