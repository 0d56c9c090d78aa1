import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock, ScheduledTask } from '#libs/clock';
import type { ConnectionEnd, EndedConnections } from './ended-connections.js';
import { FloodAlarm } from './flood-alarm.js';
import { type Handler, RequestSequence, RequestTurns } from './request-turns.js';
import { returnMemory } from './return-memory.js';

/** How many connections a port accepts. */
export interface ConnectionBounds {
  readonly max: number;
  /** Behind a proxy or a balancer all callers come from one address. */
  readonly perAddress: number;
}

/** Probes, scrapers and viewers of the status page are a handful. */
export const MANAGEMENT_BOUNDS: ConnectionBounds = { max: 256, perAddress: 128 };

export interface BoundParts {
  readonly bounds: ConnectionBounds;
  readonly clock: Clock;
  readonly ended: EndedConnections;
  /** Called once a flood of requests is over; by default, gives back its memory. */
  readonly onCalm?: () => void;
}

const SWEEP_MS = 1_000;
/**
 * A client that does not read a single octet of what is waiting for it in this time is gone, or never meant to read.
 */
const MAX_UNREAD_MS = 20_000;

/**
 * Bounds what connections can use of a server, whoever opens them: their number, in total and per address, the requests
 * that each has under way, and how long an answer waits to be read. To be called once all request handlers are
 * registered, before the server listens.
 */
export function boundConnections(server: Server, { bounds, clock, ended, onCalm = returnMemory }: BoundParts): void {
  server.maxConnections = bounds.max;
  server.on('drop', () => ended.count('all'));
  boundAddresses(server, bounds.perAddress, ended);
  const alarm = new FloodAlarm({ clock, onCalm }).belongTo(server);
  const turns = new RequestTurns({ clock, ended, alarm });
  const sequences = new WeakMap<Socket, RequestSequence>();
  const unread = new UnreadAnswers(clock, ended);
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    if (socket.destroyed) return;
    unread.watch(socket);
    sequences.set(socket, new RequestSequence(socket, turns));
  });
  for (const event of ['request', 'checkContinue'] as const) {
    const handlers = server.listeners(event) as Handler[];
    if (handlers.length === 0) continue;
    const handle: Handler = (request, response) => {
      for (const one of handlers) one(request, response);
    };
    server.removeAllListeners(event);
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      sequences.get(request.socket)?.add(request, response, handle);
    });
  }
}

function boundAddresses(server: Server, perAddress: number, ended: EndedConnections): void {
  const open = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
    if (count > perAddress) end(socket, 'address', ended);
  });
}

interface Unread {
  readonly taken: number;
  readonly sinceMs: number;
}

/** Ends connections whose answers nobody reads: otherwise these would be kept for as long as the client likes. */
class UnreadAnswers {
  readonly #clock: Clock;
  readonly #ended: EndedConnections;
  readonly #open = new Map<Socket, Unread | undefined>();
  #next: ScheduledTask | undefined;

  constructor(clock: Clock, ended: EndedConnections) {
    this.#clock = clock;
    this.#ended = ended;
  }

  watch(socket: Socket): void {
    this.#open.set(socket, undefined);
    socket.once('close', () => {
      this.#open.delete(socket);
      if (this.#open.size > 0) return;
      this.#next?.cancel();
      this.#next = undefined;
    });
    this.#next ??= this.#clock.schedule(SWEEP_MS, () => this.#sweep());
  }

  #sweep(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [socket, before] of this.#open) {
      const { writableLength } = socket;
      if (writableLength === 0) {
        if (before !== undefined) this.#open.set(socket, undefined);
        continue;
      }
      const taken = socket.bytesWritten - writableLength;
      if (taken !== before?.taken) this.#open.set(socket, { taken, sinceMs: nowMs });
      else if (nowMs - before.sinceMs >= MAX_UNREAD_MS) end(socket, 'unread', this.#ended);
    }
    this.#next = this.#clock.schedule(SWEEP_MS, () => this.#sweep());
  }
}

function end(socket: Socket, reason: ConnectionEnd, ended: EndedConnections): void {
  ended.count(reason);
  socket.destroy();
}
