import { setTimeout as pause } from 'node:timers/promises';
import type { RedisProcess, TcpProxy } from '#libs/testing';
import type { ReplicaGroup } from '../replicas/replica-group.js';

export interface SoakStage {
  readonly group: ReplicaGroup;
  readonly redis: RedisProcess;
  /** Each replica's network to Redis. */
  readonly proxies: readonly TcpProxy[];
  /** In [0, 1), from the seed. */
  readonly random: () => number;
}

export interface SoakFault {
  readonly name: string;
  readonly play: (stage: SoakStage) => Promise<void>;
}

const between = (least: number, most: number, random: () => number): number => least + random() * (most - least);
const oneOf = <T>(items: readonly T[], random: () => number): T | undefined =>
  items[Math.floor(random() * items.length)];

const gatewayFault =
  (fault: object) =>
  async ({ group, random }: SoakStage): Promise<void> => {
    const times = 1 + Math.floor(random() * 3);
    // One at a time: piled up, they would keep the gateway failing for good, and only back-off would be tested.
    await group.control('DELETE', '/faults');
    await group.control('POST', '/faults', { operation: 'authorize', times, ...fault });
  };

/** What can go wrong; each fault is undone by itself or within its own time. */
export const soakFaults: readonly SoakFault[] = [
  {
    name: 'Redis is killed and comes back empty',
    play: async ({ redis, random }: SoakStage): Promise<void> => {
      await redis.kill();
      await pause(between(100, 3_000, random));
      await redis.start();
    },
  },
  {
    name: 'Redis is frozen and thawed',
    play: async ({ redis, random }: SoakStage): Promise<void> => {
      redis.freeze();
      await pause(between(100, 3_000, random));
      redis.thaw();
    },
  },
  {
    name: 'Redis forgets everything',
    play: ({ redis }: SoakStage): Promise<void> => Promise.resolve(void redis.cli('FLUSHALL')),
  },
  {
    name: 'Redis forgets its scripts',
    play: ({ redis }: SoakStage): Promise<void> => Promise.resolve(void redis.cli('SCRIPT', 'FLUSH')),
  },
  {
    name: 'every connection to Redis is cut',
    play: ({ redis }: SoakStage): Promise<void> =>
      Promise.resolve(void redis.cli('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')),
  },
  {
    name: 'one replica loses its network',
    play: async ({ proxies, random }: SoakStage): Promise<void> => {
      const proxy = oneOf(proxies, random);
      if (proxy === undefined) return;
      proxy.passage = 'cut';
      await pause(between(500, 5_000, random));
      proxy.passage = 'open';
      proxy.reset();
    },
  },
  { name: 'the gateway is overloaded', play: gatewayFault({ kind: 'error' }) },
  { name: 'the gateway drops connections', play: gatewayFault({ kind: 'drop' }) },
  { name: 'the gateway hangs', play: gatewayFault({ kind: 'hang' }) },
  { name: 'the gateway answers garbage', play: gatewayFault({ kind: 'garbage_jwe' }) },
  { name: 'the gateway is slow', play: gatewayFault({ kind: 'latency', delayMs: 700 }) },
  { name: 'nothing for a while', play: ({ random }: SoakStage): Promise<void> => pause(between(500, 3_000, random)) },
];
