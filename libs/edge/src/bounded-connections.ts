import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock, ScheduledTask } from '#libs/clock';
import type { ConnectionBounds } from './connection-bounds.js';
import type { ConnectionEnd, EndedConnections } from './ended-connections.js';
import { type Handler, OneRequestAtATime } from './one-request-at-a-time.js';

export interface BoundParts {
  readonly bounds: ConnectionBounds;
  readonly clock: Clock;
  readonly ended: EndedConnections;
}

const SWEEP_MS = 1_000;
/**
 * A client that does not read a single octet of what is waiting for it in this time is gone, or never meant to read.
 */
const MAX_UNREAD_MS = 20_000;

/**
 * Bounds what connections can use of a server, whoever opens them: their number, in total and per address, one request
 * at a time on each, and how long an answer waits to be read. When there are too many, the one that was idle for the
 * longest goes, of those from the address that has the most; one whose request is being answered stays. To be called
 * once all request handlers are registered, before the server listens.
 */
export function boundConnections(server: Server, parts: BoundParts): void {
  const connections = new OpenConnections(parts);
  server.on('connection', (socket: Socket) => connections.admit(socket));
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    if (!socket.destroyed) connections.read(socket);
  });
  for (const event of ['request', 'checkContinue'] as const) {
    const handlers = server.listeners(event) as Handler[];
    if (handlers.length === 0) continue;
    const handle: Handler = (request, response) => {
      for (const one of handlers) one(request, response);
    };
    server.removeAllListeners(event);
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      connections.handle(request, response, handle);
    });
  }
}

interface Connection {
  readonly key: string;
  readonly address: Address;
  /** The one that speaks TLS once it does: only that one knows what is unread. */
  socket: Socket;
  /** Absent within the TLS handshake. */
  requests?: OneRequestAtATime;
  unread?: Unread | undefined;
}

/** The connections from one address, the one that was used last at the end. */
type Address = Set<Connection>;

interface Unread {
  readonly taken: number;
  readonly sinceMs: number;
}

class OpenConnections {
  readonly #bounds: ConnectionBounds;
  readonly #clock: Clock;
  readonly #ended: EndedConnections;
  readonly #addresses = new Map<string, Address>();
  /** By the address and port of the client, which TLS and what it is spoken over have in common. */
  readonly #open = new Map<string, Connection>();
  readonly #ofSocket = new WeakMap<Socket, Connection>();
  #next: ScheduledTask | undefined;

  constructor({ bounds, clock, ended }: BoundParts) {
    this.#bounds = bounds;
    this.#clock = clock;
    this.#ended = ended;
  }

  admit(socket: Socket): void {
    const name = socket.remoteAddress ?? '';
    const address = this.#addresses.get(name) ?? new Set();
    if (address.size >= this.#bounds.perAddress && !this.#makeRoom([address], 'address')) {
      return this.#end(socket, 'address');
    }
    if (this.#open.size >= this.#bounds.max && !this.#makeRoom(this.#addresses.values(), 'all')) {
      return this.#end(socket, 'all');
    }
    const key = keyOf(socket);
    const connection: Connection = { key, address, socket };
    this.#addresses.set(name, address.add(connection));
    this.#open.set(key, connection);
    socket.once('close', () => {
      if (this.#open.get(key) === connection) this.#open.delete(key);
      address.delete(connection);
      if (address.size === 0 && this.#addresses.get(name) === address) this.#addresses.delete(name);
      if (this.#open.size > 0) return;
      this.#next?.cancel();
      this.#next = undefined;
    });
    this.#next ??= this.#clock.schedule(SWEEP_MS, () => this.#sweep());
  }

  /** Once nothing but HTTP comes from the socket. */
  read(socket: Socket): void {
    const connection = this.#open.get(keyOf(socket));
    if (connection === undefined) return void socket.destroy();
    connection.socket = socket;
    connection.requests = new OneRequestAtATime(socket, {
      clock: this.#clock,
      onPipelined: () => this.#ended.count('pipelined'),
    });
    this.#ofSocket.set(socket, connection);
  }

  handle(request: IncomingMessage, response: ServerResponse, handler: Handler): void {
    const connection = this.#ofSocket.get(request.socket);
    if (connection === undefined) return;
    connection.address.delete(connection);
    connection.address.add(connection);
    connection.requests?.handle(request, response, handler);
  }

  /** @returns whether one of the connections of the fullest of these addresses was idle, and has been ended */
  #makeRoom(addresses: Iterable<Address>, reason: ConnectionEnd): boolean {
    let idlest: Connection | undefined;
    for (const address of addresses) {
      if (idlest !== undefined && address.size <= idlest.address.size) continue;
      for (const connection of address) {
        if (connection.requests?.isAnswering === true) continue;
        idlest = connection;
        break;
      }
    }
    if (idlest === undefined) return false;
    // Its place is free now, and not only once the socket is closed.
    idlest.address.delete(idlest);
    this.#open.delete(idlest.key);
    this.#end(idlest.socket, reason);
    return true;
  }

  /** Ends connections whose answers nobody reads: otherwise these would be kept for as long as the client likes. */
  #sweep(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const connection of this.#open.values()) {
      const { socket, unread } = connection;
      if (socket.writableLength === 0) {
        connection.unread = undefined;
        continue;
      }
      const taken = socket.bytesWritten - socket.writableLength;
      if (taken !== unread?.taken) connection.unread = { taken, sinceMs: nowMs };
      else if (nowMs - unread.sinceMs >= MAX_UNREAD_MS) this.#end(socket, 'unread');
    }
    this.#next = this.#clock.schedule(SWEEP_MS, () => this.#sweep());
  }

  #end(socket: Socket, reason: ConnectionEnd): void {
    this.#ended.count(reason);
    socket.destroy();
  }
}

function keyOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
