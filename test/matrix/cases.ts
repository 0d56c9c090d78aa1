import { setTimeout as pause } from 'node:timers/promises';
import { eventually, freePort, type RedisProcess, type TcpProxy } from '#libs/testing';
import type { MatrixCase } from './matrix-case.js';
import type { Stage } from './stage.js';

/** Lasts until the gateway's timeout and five seconds of slack are over. */
const LEASE_MS = 7_000;

/** Nothing is due: the first session lives long. */
const atRest = { firstLifetimeMs: 120_000, expected: 0, extra: 0 } as const;

/** One renewal is due while the case is played, and only the store is at fault. */
const atDue = { expected: 1, extra: 0 } as const;

/** Waits for the scheduled renewal of the first session, by any replica. */
async function renewed(stage: Stage, withinMs = 8_000): Promise<void> {
  const calls = await stage.gateway.finished();
  await eventually(async () => (await stage.gateway.finished()) > calls, withinMs);
  await eventually(() => stage.isAgreed(), withinMs);
}

/** Lets everything through again; connections with losses are broken, as after a cut cable. */
function healed(network: TcpProxy): void {
  network.passage = 'open';
  network.reset();
}

const RENEWALS = 100;

async function killedFor(stage: Stage, ms: number): Promise<void> {
  await stage.redis.kill();
  await pause(ms);
  await stage.redis.start();
}

const REFUSES_FOR_MS = 2_000;

/** Redis refuses, from shortly before a renewal is due. */
async function refuses(stage: Stage, { begin, end }: Record<'begin' | 'end', readonly string[]>): Promise<void> {
  await stage.beforeDue(200);
  await stage.redis.ask(...begin);
  await pause(REFUSES_FOR_MS);
  await stage.redis.ask(...end);
}

/** Loses replies: what was asked is done. */
async function repliesLost(stage: Stage, ms: number): Promise<void> {
  for (const network of stage.networks) network.passage = 'requests-only';
  await pause(ms);
  stage.networks.forEach(healed);
}

const REPLACE = "redis.call('DEL', KEYS[1]) redis.call('RPUSH', KEYS[1], 'x')";

/** Waits until the first primary's replica has taken over and every sentinel says so. */
async function failedOver(stage: Stage): Promise<void> {
  const { replica, sentinels, name } = stage.sentinels;
  const isNamed = (sentinel: RedisProcess): boolean =>
    sentinel.cli('SENTINEL', 'get-master-addr-by-name', name).includes(String(replica.port));
  await replica.untilSays('role:master', 'INFO', 'replication');
  await eventually(() => sentinels.every(isNamed), 15_000);
}

const ofReplica = { expected: 1, extra: 1 } as const;

const GRANTED = /"time":"([^"]+)"[^\n]*"msg":"lease granted"/g;

/** The replica with the lease is the last to say so in its log; there is one grant for each call. */
async function claimant(stage: Stage): Promise<number> {
  const grants = (): { replica: number; at: string }[] =>
    stage.fleet.inService.flatMap((replica) =>
      [...stage.fleet.log(replica).matchAll(GRANTED)].map(([, at = '']) => ({ replica, at })),
    );
  const calls = (await stage.gateway.createCalls()).length;
  await eventually(() => grants().length >= calls);
  return grants().sort((one, other) => other.at.localeCompare(one.at))[0]?.replica ?? 0;
}

/** Cuts replicas off from their store from shortly before a renewal is due. */
async function cutOff(stage: Stage, networks: Stage['networks'], ms: number): Promise<void> {
  await stage.beforeDue(300);
  for (const network of networks) network.passage = 'cut';
  await pause(ms);
  networks.forEach(healed);
}

/** Every case of the matrix, in the order in which they are played and printed. */
export const matrixCases: readonly MatrixCase[] = [
  // ---- What renewals cost without any fault
  {
    name: 'no-fault',
    done: `${RENEWALS} renewals, nothing goes wrong`,
    expected: RENEWALS,
    extra: 0,
    aftermath: 'none',
    namesNoEnd: true,
    play: async (stage: Stage, before: number): Promise<void> => {
      stage.end();
      const made = async (): Promise<number> => (await stage.gateway.createCalls()).length - before;
      await eventually(async () => (await made()) >= RENEWALS - 1, 150_000);
      // The last session lives long, so that exactly this many renewals are due.
      await stage.renewNoMore();
      await eventually(async () => (await made()) >= RENEWALS);
    },
  },

  // ---- Redis itself goes away, forgets, or says nothing
  {
    ...atRest,
    name: 'killed-empty',
    done: 'Redis is killed and comes back empty after 1 s, at rest',
    play: (stage: Stage): Promise<void> => killedFor(stage, 1_000),
  },
  {
    ...atDue,
    name: 'killed-empty-in-call',
    done: 'Redis is killed while the create call is under way, and comes back empty after its answer',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.gateway.stallCall();
      await stage.redis.kill();
      await letGo();
      await pause(800);
      await stage.redis.start();
    },
  },
  {
    ...atDue,
    name: 'old-snapshot',
    done: 'a session is renewed, Redis comes back with what it had before, and one more replica starts',
    play: async (stage: Stage): Promise<void> => {
      await stage.redis.ask('SAVE');
      await renewed(stage);
      await killedFor(stage, 300);
      stage.end();
      await stage.fleet.add(1);
    },
  },
  {
    ...atDue,
    name: 'frozen-3s',
    done: 'Redis is frozen for 3 s at a due moment',
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(200);
      stage.redis.freeze();
      await pause(3_000);
      stage.redis.thaw();
    },
  },
  {
    ...atDue,
    name: 'frozen-beyond-lease',
    done: 'Redis is frozen between the gateway’s answer and the publication, for longer than the lease',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.gateway.stallCall();
      stage.redis.freeze();
      await letGo();
      await pause(LEASE_MS + 1_000);
      stage.redis.thaw();
    },
  },
  {
    ...atRest,
    name: 'flushall-start',
    done: 'FLUSHALL at rest, and one more replica starts at once',
    play: async (stage: Stage): Promise<void> => {
      await stage.redis.ask('FLUSHALL');
      stage.end();
      await stage.fleet.add(1);
      await pause(1_000);
    },
  },

  // ---- A store that answers, but refuses: not an outage, whatever the code
  ...(['publish', 'hset'] as const).map((right): MatrixCase => ({
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

  // ---- What is lost on the way between a replica and Redis
  {
    ...atDue,
    name: 'all-connections-killed',
    done: 'CLIENT KILL of every connection just before a publication',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.gateway.stallCall();
      await stage.redis.ask('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await stage.redis.ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await letGo();
    },
  },
  {
    ...atDue,
    name: 'subscriptions-killed',
    done: 'CLIENT KILL of the subscriptions for 0.5 s around a publication',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.gateway.stallCall();
      const kill = (): Promise<string> => stage.redis.ask('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await kill();
      const killing = setInterval(() => void kill(), 40);
      await pause(250);
      await letGo();
      await pause(250);
      clearInterval(killing);
    },
  },
  {
    ...atDue,
    name: 'claim-reply-lost',
    done: 'replies are lost for 0.7 s while the merchant is claimed',
    networks: true,
    play: async (stage: Stage): Promise<void> => {
      await stage.beforeDue(20);
      await repliesLost(stage, 700);
    },
  },
  {
    ...atDue,
    name: 'publish-reply-lost',
    done: 'replies are lost for 0.5 s while the session is published',
    networks: true,
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.gateway.stallCall();
      const lost = repliesLost(stage, 500);
      await letGo();
      await lost;
    },
  },

  // ---- One bad thing in Redis stays one bad thing; what else can be bad there, the specs of the store have
  {
    name: 'wrong-type',
    done: 'the key of another merchant becomes one of a wrong type',
    // The renewal of the other one is expected as well.
    others: ['hurt'],
    expected: 2,
    extra: 0,
    play: async (stage: Stage): Promise<void> => {
      await stage.redis.ask('EVAL', REPLACE, '1', 'session-broker:{0}:merchant:hurt');
      await renewed(stage);
    },
  },

  // ---- Sentinel and Cluster, with one server lost
  {
    ...atDue,
    name: 'sentinel-failover-in-call',
    done: 'the primary is killed while a create call is under way, and a replica takes over',
    topology: 'Sentinel',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.gateway.stallCall();
      await stage.sentinels.primary.kill();
      await letGo();
      await failedOver(stage);
    },
  },
  {
    ...atDue,
    name: 'sentinel-lost-writes',
    done: 'a session is published, and the replica that takes over never heard of it; one more replica starts',
    topology: 'Sentinel',
    play: async (stage: Stage): Promise<void> => {
      const { primary, replica } = stage.sentinels;
      await stage.beforeDue(300);
      replica.freeze();
      primary.cli('CLIENT', 'KILL', 'TYPE', 'replica');
      await renewed(stage);
      await primary.kill();
      replica.thaw();
      await failedOver(stage);
      stage.end();
      await stage.fleet.add(1);
    },
  },
  {
    ...atRest,
    name: 'cluster-node-killed',
    done: 'the node with the merchant is killed and comes back empty after 2 s',
    topology: 'Cluster',
    play: async (stage: Stage): Promise<void> => {
      const node = stage.redis;
      await node.kill();
      await pause(2_000);
      await node.start();
      await node.untilSays('cluster_state:ok', 'CLUSTER', 'INFO');
    },
  },

  // ---- Claimants that die or freeze
  {
    ...ofReplica,
    name: 'killed-before-call',
    done: 'SIGKILL of a replica whose create call the gateway does not carry out; over with its lease',
    play: async (stage: Stage): Promise<void> => {
      await stage.gateway.stallCall();
      await stage.fleet.kill(await claimant(stage));
      await pause(LEASE_MS);
    },
  },
  {
    ...ofReplica,
    name: 'killed-after-call',
    done: 'SIGKILL of a replica whose create call was carried out; over with its lease',
    goalMs: 2_000,
    play: async (stage: Stage): Promise<void> => {
      await stage.gateway.stallCall('answer');
      await stage.fleet.kill(await claimant(stage));
      await pause(LEASE_MS);
    },
  },
  {
    ...ofReplica,
    name: 'stopped-beyond-lease',
    done: 'SIGSTOP of the claimant during its call, until others have renewed',
    play: async (stage: Stage): Promise<void> => {
      const letGo = await stage.gateway.stallCall();
      const frozen = await claimant(stage);
      stage.fleet.signal(frozen, 'SIGSTOP');
      await letGo();
      await pause(LEASE_MS + 1_500);
      stage.fleet.signal(frozen, 'SIGCONT');
    },
  },

  // ---- What is served while replicas do not reach their store
  {
    ...atDue,
    name: 'cut-off',
    done: 'one replica is cut off from Redis for 2 s at a due moment',
    networks: true,
    play: (stage: Stage): Promise<void> => cutOff(stage, stage.networks.slice(0, 1), 2_000),
  },
  {
    ...atDue,
    name: 'all-cut-off',
    done: 'all replicas are cut off until after the end of the session',
    networks: true,
    play: (stage: Stage): Promise<void> => cutOff(stage, stage.networks, 6_500),
  },
];
