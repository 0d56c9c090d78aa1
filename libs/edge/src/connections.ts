import type { Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { totalmem } from 'node:os';
import type { Clock, ScheduledTask } from '#libs/clock';
import type { ConnectionEnd } from './ended-connections.js';
import { OneRequestAtATime, readerOf } from './one-request-at-a-time.js';

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

export interface BoundParts {
  readonly bounds: ConnectionBounds;
  readonly clock: Clock;
  readonly onEnd: (reason: ConnectionEnd) => void;
}

const SWEEP_MS = 1_000;
/** A client that does not read a single octet of what waits for it in this time is gone, or never meant to read. */
const MAX_UNREAD_MS = 20_000;

interface Connection {
  readonly key: string;
  readonly address: Address;
  /** The one that speaks TLS once it does: only that one knows what is unread, and has a reader. */
  socket: Socket;
  unread?: { readonly taken: number; readonly sinceMs: number } | undefined;
}

/** The connections from one address, the one that was used last at the end. */
type Address = Set<Connection>;

/**
 * The connections of a server. Bounds what they can use of it, whoever opens them: their number, in total and per
 * address, one request at a time on each, and how long an answer waits to be read. When there are too many, the one that
 * was idle for the longest goes, of those from the address that has the most; one whose request is being answered stays.
 */
export class Connections {
  readonly #server: Server;
  readonly #parts: BoundParts;
  readonly #addresses = new Map<string, Address>();
  readonly #open = new Set<Connection>();
  /** The newest by address and port of the client: one that is not read may have outlived a client of the same. */
  readonly #newest = new Map<string, Connection>();
  #nextSweep: ScheduledTask | undefined;

  constructor(server: Server, parts: BoundParts) {
    this.#server = server;
    this.#parts = parts;
    server.on('connection', (socket: Socket) => this.#admit(socket));
    server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
      if (!socket.destroyed) this.#read(socket);
    });
    server.on('listening', () => this.#sweep()).on('close', () => this.#nextSweep?.cancel());
  }

  /** Ends every connection that exists now: idle ones at once, the others with their next answer. */
  end(): void {
    for (const { socket } of this.#open) {
      const reader = readerOf(socket);
      if (reader !== undefined) reader.isLast = true;
    }
    this.#server.closeIdleConnections();
  }

  cut(): void {
    for (const { socket } of this.#open) socket.destroy();
  }

  #admit(socket: Socket): void {
    const { bounds } = this.#parts;
    const name = socket.remoteAddress ?? '';
    const address = this.#addresses.get(name) ?? new Set();
    if (address.size >= bounds.perAddress && !this.#makeRoom([address], 'address')) return this.#end(socket, 'address');
    const isFull = this.#open.size >= bounds.max;
    if (isFull && !this.#makeRoom(this.#addresses.values(), 'all')) return this.#end(socket, 'all');
    const key = keyOf(socket);
    const connection: Connection = { key, address, socket };
    this.#addresses.set(name, address.add(connection));
    this.#open.add(connection);
    this.#newest.set(key, connection);
    socket.once('close', () => {
      this.#forget(connection);
      if (address.size === 0 && this.#addresses.get(name) === address) this.#addresses.delete(name);
    });
  }

  /** Once nothing but HTTP comes from the socket. */
  #read(socket: Socket): void {
    const { clock, onEnd } = this.#parts;
    const connection = this.#newest.get(keyOf(socket));
    if (connection === undefined) return void socket.destroy();
    connection.socket = socket;
    const { address } = connection;
    new OneRequestAtATime(socket, {
      clock,
      onRequest: () => address.delete(connection) && address.add(connection),
      onPipelined: () => onEnd('pipelined'),
    });
  }

  /** @returns whether one of the connections of the fullest of these addresses was idle, and has been ended */
  #makeRoom(addresses: Iterable<Address>, reason: ConnectionEnd): boolean {
    let idlest: Connection | undefined;
    for (const address of addresses) {
      if (idlest !== undefined && address.size <= idlest.address.size) continue;
      for (const connection of address) {
        if (readerOf(connection.socket)?.isAnswering === true) continue;
        idlest = connection;
        break;
      }
    }
    if (idlest === undefined) return false;
    // Its place is free now, and not only once the socket is closed.
    this.#forget(idlest);
    this.#end(idlest.socket, reason);
    return true;
  }

  /** Ends connections whose answers nobody reads: otherwise these would be kept for as long as the client likes. */
  #sweep(): void {
    const { clock } = this.#parts;
    const nowMs = clock.monotonicMs();
    for (const connection of this.#open) {
      const { socket, unread } = connection;
      const taken = socket.bytesWritten - socket.writableLength;
      if (socket.writableLength === 0) connection.unread = undefined;
      else if (taken !== unread?.taken) connection.unread = { taken, sinceMs: nowMs };
      else if (nowMs - unread.sinceMs >= MAX_UNREAD_MS) this.#end(socket, 'unread');
    }
    this.#nextSweep = clock.schedule(SWEEP_MS, () => this.#sweep());
  }

  #forget(connection: Connection): void {
    connection.address.delete(connection);
    this.#open.delete(connection);
    if (this.#newest.get(connection.key) === connection) this.#newest.delete(connection.key);
  }

  #end(socket: Socket, reason: ConnectionEnd): void {
    this.#parts.onEnd(reason);
    socket.destroy();
  }
}

const keyOf = ({ remoteAddress = '', remotePort = 0 }: Socket): string => `${remoteAddress} ${remotePort}`;
