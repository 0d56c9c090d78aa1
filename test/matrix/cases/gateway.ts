import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '#libs/testing';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { around, renewed } from './case-steps.js';

const AN_HOUR_MS = 3_600_000;
const TIME_OUT_MS = 1_000;
const RECOVERED_WITHIN_MS = 3_000;
/**
 * After two failures within three seconds the pause may be up to 8 s: a gateway that answers "not now" is not rushed.
 */
const BACK_OFF_WITHIN_MS = 8_000;

/** One session, and the attempts that the gateway answered with a fault: how many depends on the back-off. */
async function oneAndFailed(stage: Stage): Promise<number> {
  return 1 + (await stage.gateway.createCalls()).filter(({ faults }) => faults.includes('error')).length;
}

async function skewed(stage: Stage, skewMs: number): Promise<void> {
  await pause(200);
  stage.begin();
  await stage.gateway.control('PATCH', '/settings', { skewMs });
  await renewed(stage);
  stage.end();
}

/** Faults of the gateway. */
export const gatewayCases: readonly MatrixCase[] = [
  {
    name: 'overloaded',
    recoveredWithinMs: BACK_OFF_WITHIN_MS,
    done: 'the gateway answers 503 for 3 s from a due moment on',
    expected: oneAndFailed,
    extra: 0,
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(100);
      await around(stage, async () => {
        await stage.gateway.fault({ kind: 'error' });
        await pause(3_000);
        await stage.gateway.clearFaults();
      });
      await renewed(stage, 15_000);
    },
  },
  {
    name: 'refuses-connections',
    recoveredWithinMs: RECOVERED_WITHIN_MS,
    done: 'the gateway refuses connections for 20 s, beyond the end of the session',
    expected: 1,
    extra: 0,
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(200);
      await around(stage, async () => {
        await stage.gateway.door.shut();
        await pause(20_000);
        await stage.gateway.door.open();
      });
    },
  },
  {
    name: 'slow',
    done: 'the gateway takes 800 ms of the second that it has',
    expected: 1,
    extra: 0,
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(200);
      await around(stage, async () => {
        await stage.gateway.fault({ kind: 'latency', delayMs: 800, times: 1 });
        await renewed(stage);
      });
    },
  },
  {
    name: 'answer-lost',
    done: 'the gateway carries out a call and its answer is lost; the old session is dead until the next attempt',
    expected: 1,
    extra: 1,
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(200);
      await around(stage, async () => {
        await stage.gateway.fault({ kind: 'drop', at: 'answer', times: 1 });
        await eventually(async () => (await stage.gateway.createCalls()).length >= 3);
      });
    },
  },
  {
    name: 'orphan',
    done: 'a call times out, the next one succeeds, then the gateway carries out the first: consumers report it',
    expected: 3,
    extra: 0,
    aftermath: 'none',
    report: true,
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.stallCall();
      await pause(TIME_OUT_MS);
      await eventually(async () => (await stage.gateway.createCalls()).length >= 3);
      await eventually(() => stage.isAgreed());
      await around(stage, letGo);
    },
  },
  ...[1, -1].map((direction): MatrixCase => ({
    name: direction > 0 ? 'date-ahead' : 'date-behind',
    done: `the clock of the gateway is an hour ${direction > 0 ? 'ahead' : 'behind'}, in \`Date\` and in every expiry`,
    expected: 1,
    extra: 0,
    play: (stage: Stage): Promise<void> => skewed(stage, direction * AN_HOUR_MS),
  })),
];
