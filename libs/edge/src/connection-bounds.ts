import { totalmem } from 'node:os';

/** How many connections a port accepts. */
export interface ConnectionBounds {
  readonly max: number;
  /** Behind a proxy or a balancer all callers come from one address. */
  readonly perAddress: number;
}

/** Probes, scrapers and viewers of the status page are a handful. */
export const MANAGEMENT_BOUNDS: ConnectionBounds = { max: 256, perAddress: 32 };

const MIB = 1_048_576;
/** What a program takes at full load, on few connections. */
const OWN_BYTES = 144 * MIB;
/** The most that a client can make a connection cost: the largest body, or answers and requests that nobody reads. */
const BYTES_PER_CONNECTION = 192 * 1_024;
const MIN_CONNECTIONS = 64;
const MAX_CONNECTIONS = 12_000;
const SHARE_OF_ADDRESS = 1 / 8;

/** @returns how many connections fit into this memory whatever they are used for, unless the configuration says so */
export function boundsWithin(
  memoryBytes: number,
  configured: { readonly max?: number | undefined; readonly perAddress?: number | undefined },
): ConnectionBounds {
  const fitting = Math.floor((memoryBytes - OWN_BYTES) / BYTES_PER_CONNECTION);
  const max = configured.max ?? Math.min(MAX_CONNECTIONS, Math.max(MIN_CONNECTIONS, fitting));
  return { max, perAddress: configured.perAddress ?? Math.ceil(max * SHARE_OF_ADDRESS) };
}

/** @returns the octets that this process may use: the limit of its container, or all that the machine has */
export function memoryLimit(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
