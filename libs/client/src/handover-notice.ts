import type { JsonObject } from './json.js';

/** What the broker says of a renewal that is about to begin. */
export interface HandoverNotice {
  /** Of the session that is to come. */
  readonly generation: number;
  /** How long to hold calls at most; 0 when no session comes of it. */
  readonly holdForMs: number;
  /** Who we are in it; undefined when the broker wants no report. */
  readonly participant?: string | undefined;
}

/** How a hold ended: with the newer session, with word that there will be none, by itself, or with the client. */
export type HoldEnd = 'session' | 'given_up' | 'limit' | 'closed';

/** @returns undefined for what makes no sense: nobody is held for it */
export function readHandover({ generation, holdForMs, participant }: JsonObject): HandoverNotice | undefined {
  if (!isWhole(generation) || generation === 0 || !isWhole(holdForMs)) return undefined;
  return typeof participant === 'string' ? { generation, holdForMs, participant } : { generation, holdForMs };
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
