import { eventually, type TcpProxy } from '#libs/testing';
import type { Stage } from '../stage.js';

/** Lasts until the gateway's timeout and five seconds of slack are over. */
export const LEASE_MS = 6_000;

/** Nothing is due: the first session lives long. */
export const atRest = { firstLifetimeMs: 120_000, expected: 0, extra: 0 } as const;

/** One renewal is due while the case is played, and only the store is at fault. */
export const atDue = { expected: 1, extra: 0 } as const;

/** Marks on the stage when the fault began and when it ended. */
export async function around(stage: Stage, fault: () => Promise<unknown>): Promise<void> {
  stage.begin();
  await fault();
  stage.end();
}

/** Waits for the scheduled renewal of the first session, by any replica. */
export async function renewed(stage: Stage, withinMs = 8_000): Promise<void> {
  const calls = await stage.gateway.finished();
  await eventually(async () => (await stage.gateway.finished()) > calls, withinMs);
  await eventually(() => stage.isAgreed(), withinMs);
}

/** Lets everything through again; connections with losses are broken, as after a cut cable. */
export function healed(network: TcpProxy): void {
  network.passage = 'open';
  network.reset();
}
