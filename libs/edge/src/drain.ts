import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock, ScheduledTask } from '#libs/clock';

const SWEEP_MS = 20;

/** By then every request that was under way has been answered: the remaining connections never sent one. */
const MAX_DRAIN_MS = 2_000;

const connections = new WeakMap<Server, Set<Socket>>();
/** Connections, as seen by requests, that end with their next answer. */
const ending = new WeakSet<Socket>();

/**
 * Tracks every connection of a server: the server itself does not know about those in the middle of a TLS handshake.
 */
export function watchConnections(server: Server): void {
  const open = new Set<Socket>();
  connections.set(server, open);
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  // A request over TLS has a different socket from the one that was connected.
  server.on('secureConnection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
}

/** Ends every connection that exists now: idle ones at once, the others with their next answer. */
export function endConnections(server: Server): void {
  connections.get(server)?.forEach((socket) => ending.add(socket));
  server.closeIdleConnections();
}

/** Whether the connection ends with its next answer. */
export function isEnding(socket: Socket): boolean {
  return ending.has(socket);
}

/**
 * Closes a server within a bounded time. A connection that becomes idle after the server stopped listening, or one that
 * was opened and never used, would otherwise keep the process alive for as long as its client likes.
 */
export async function drain(
  server: Server,
  { close, clock }: { close: () => Promise<void>; clock: Clock },
): Promise<void> {
  const endsAtMs = clock.monotonicMs() + MAX_DRAIN_MS;
  let next: ScheduledTask | undefined;
  const sweep = (): void => {
    if (clock.monotonicMs() >= endsAtMs) connections.get(server)?.forEach((socket) => socket.destroy());
    else server.closeIdleConnections();
    next = clock.schedule(SWEEP_MS, sweep);
  };
  next = clock.schedule(SWEEP_MS, sweep);
  try {
    await close();
  } finally {
    next.cancel();
  }
}
