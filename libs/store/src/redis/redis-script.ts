import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { prelude } from './scripts/prelude.lua.js';

/** Where commands are sent: one server (found directly or through Sentinel), or a cluster. */
export type RedisClient = Redis | Cluster;

/** A Lua script, which the server knows by its SHA-1. */
export interface RedisScript {
  readonly name: string;
  /** The text without the prelude that all scripts begin with. */
  readonly body: string;
  readonly lua: string;
  readonly sha1: string;
}

export interface ScriptCall {
  /** All in one hash slot. */
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

export function defineScript(name: string, body: string): RedisScript {
  const lua = prelude + body;
  return { name, body, lua, sha1: createHash('sha1').update(lua).digest('hex') };
}

/**
 * Runs a script by its SHA-1. A server that does not know it (a fresh one, a failover, SCRIPT FLUSH) has not run
 * anything, so sending the text then runs it once, and loads it into that server.
 */
export async function runScript(client: RedisClient, script: RedisScript, call: ScriptCall): Promise<unknown> {
  const operands = [...call.keys, ...call.args.map(String)];
  try {
    return await client.evalsha(script.sha1, call.keys.length, ...operands);
  } catch (error) {
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    return client.eval(script.lua, call.keys.length, ...operands);
  }
}

/** Keeps a single script from blocking the server for long. */
const MAX_BATCH = 100;

/** Groups items by `keyOf` and cuts each group into batches, with the items in the order given. */
export function batchesBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): readonly [Key, Item[]][] {
  return [...Map.groupBy(items, keyOf)].flatMap(([key, group]) =>
    Array.from({ length: Math.ceil(group.length / MAX_BATCH) }, (_, index): [Key, Item[]] => [
      key,
      group.slice(index * MAX_BATCH, (index + 1) * MAX_BATCH),
    ]),
  );
}

/** Keeps a batch from waiting behind so many others that its command times out before the server has seen it. */
const BATCHES_IN_FLIGHT = 4;

/** Works through the batches, a few at a time; rejects with the first failure. */
export async function inTurn<Batch>(batches: readonly Batch[], work: (batch: Batch) => Promise<void>): Promise<void> {
  const waiting = batches.values();
  const lane = async (): Promise<void> => {
    for (const batch of waiting) await work(batch);
  };
  await Promise.all(Array.from({ length: BATCHES_IN_FLIGHT }, lane));
}
