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
