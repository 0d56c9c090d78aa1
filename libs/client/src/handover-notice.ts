import type { JsonObject } from './json.js';

/** What the broker says about a renewal that is about to begin. */
export interface HandoverNotice {
  /** The generation of the session to come. */
  readonly generation: number;
  /** How long to hold calls at most; 0 if no session comes after all. */
  readonly holdForMs: number;
  /** Our id in this hand-over; undefined if the broker wants no report. */
  readonly participant?: string | undefined;
}

/** How a hold ended: with the newer session, with notice that none will come, at its time limit, or with the client. */
export type HoldEnd = 'session' | 'given_up' | 'limit' | 'closed';

/** @returns undefined for a notice that makes no sense: no call is held for it */
export function readHandover({ generation, holdForMs, participant }: JsonObject): HandoverNotice | undefined {
  if (!isWhole(generation) || generation === 0 || !isWhole(holdForMs)) return undefined;
  return typeof participant === 'string' ? { generation, holdForMs, participant } : { generation, holdForMs };
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
