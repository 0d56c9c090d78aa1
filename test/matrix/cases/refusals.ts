import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '#libs/testing';
import type { MatrixCase } from '../matrix-case.js';
import type { Stage } from '../stage.js';
import { around, atDue } from './case-steps.js';

const REFUSES_FOR_MS = 2_000;
const credentials = { username: 'broker', password: 'before' };

/** Redis refuses, from shortly before a renewal is due. */
async function refuses(stage: Stage, { begin, end }: Record<'begin' | 'end', readonly string[]>): Promise<void> {
  await stage.beforeDue(200);
  await around(stage, async () => {
    await stage.store.tell(...begin);
    await pause(REFUSES_FOR_MS);
    await stage.store.tell(...end);
  });
}

/** A store that answers, but refuses: not an outage, whatever the code. */
export const refusalCases: readonly MatrixCase[] = [
  ...(['evalsha', 'publish', 'hset'] as const).map((right): MatrixCase => ({
    ...atDue,
    name: `no-right-${right}`,
    done: `the right to \`${right}\` is taken for 2 s at a due moment`,
    play: (stage: Stage): Promise<void> =>
      refuses(stage, {
        begin: ['ACL', 'SETUSER', 'default', `-${right}`],
        end: ['ACL', 'SETUSER', 'default', `+${right}`],
      }),
  })),
  {
    ...atDue,
    name: 'wrong-password',
    done: 'the password is changed and connections are closed, for 2 s at a due moment',
    credentials,
    prepared: ['ACL', 'SETUSER', 'broker', 'on', '>before', '~*', '&*', '+@all'],
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(200);
      await around(stage, async () => {
        await stage.store.tell('ACL', 'SETUSER', 'broker', 'resetpass', '>after');
        await stage.store.tell('CLIENT', 'KILL', 'USER', 'broker');
        await pause(REFUSES_FOR_MS);
        await stage.store.tell('ACL', 'SETUSER', 'broker', 'resetpass', '>before');
      });
    },
  },
  {
    ...atDue,
    name: 'out-of-memory',
    done: 'Redis has no memory for 2 s at a due moment',
    play: (stage: Stage): Promise<void> =>
      refuses(stage, { begin: ['CONFIG', 'SET', 'maxmemory', '1'], end: ['CONFIG', 'SET', 'maxmemory', '0'] }),
  },
  {
    ...atDue,
    name: 'read-only',
    done: 'Redis only reads for 2 s at a due moment',
    play: async (stage: Stage): Promise<void> =>
      refuses(stage, {
        begin: ['REPLICAOF', '127.0.0.1', String(await freePort())],
        end: ['REPLICAOF', 'NO', 'ONE'],
      }),
  },
  {
    ...atDue,
    name: 'max-clients',
    done: 'connections are closed and none is accepted, for 2 s at a due moment',
    play: async (stage: Stage): Promise<void> => {
      const console = await stage.store.console();
      await stage.beforeDue(200);
      await around(stage, async () => {
        await console.say('CONFIG SET maxclients 1');
        await console.say('CLIENT KILL TYPE normal SKIPME yes');
        await console.say('CLIENT KILL TYPE pubsub');
        await pause(REFUSES_FOR_MS);
        await console.say('CONFIG SET maxclients 1000');
      });
      console.close();
    },
  },
  {
    ...atDue,
    name: 'paused-700ms',
    done: 'CLIENT PAUSE for 700 ms at a due moment',
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(100);
      await around(stage, async () => {
        await stage.store.tell('CLIENT', 'PAUSE', '700', 'ALL');
        await pause(700);
      });
    },
  },
  {
    ...atDue,
    name: 'busy-script',
    done: 'somebody’s script keeps Redis busy for 700 ms at a due moment',
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(100);
      await around(stage, async () => {
        const console = await stage.store.console();
        await console.say(
          `EVAL "local function now() local t = redis.call('TIME') return t[1] * 1000 + t[2] / 1000 end local last = now() + 700 while now() < last do end return 1" 0`,
        );
        console.close();
      });
    },
  },
];
