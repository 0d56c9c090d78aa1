import { get } from 'node:http';
import type { Clock } from '#libs/clock';
import { pause } from '../pause.js';

const POLL_MS = 20;

interface ReadinessOptions {
  readonly url: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Asks until the answer is 200.
 * @returns false if the signal aborts first
 */
export async function waitUntilReady({ url, clock, signal }: ReadinessOptions): Promise<boolean> {
  while (!signal.aborted) {
    if ((await statusOf(url, signal)) === 200) return true;
    await pause(clock, POLL_MS, signal);
  }
  return false;
}

/** The status, or undefined if there is no answer (yet). */
function statusOf(url: string, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, signal }, (response) => {
      response.resume();
      response.once('close', () => resolve(response.statusCode));
    });
    request.once('error', () => resolve(undefined));
  });
}
