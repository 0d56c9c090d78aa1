import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux gives to outgoing connections (32768 and up), any of which could take a port before it is
 * used.
 */
const FIRST_PORT = 15_000;
const END_OF_PORTS = 32_000;
const MAX_TRIES = 1_000;

const given = new Set<number>();

/**
 * A port of the loopback interface that nobody listens on, for a program that has to be told its port. No two calls in
 * one process get the same port.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const port = randomInt(FIRST_PORT, END_OF_PORTS);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${FIRST_PORT} and ${END_OF_PORTS}`);
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    await once(probe.listen(port, '127.0.0.1'), 'listening');
  } catch {
    return false;
  }
  await once(probe.close(), 'close');
  return true;
}
