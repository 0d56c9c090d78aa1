import type { ClaimRequest, ClaimResult, StoredReport, StoredSession, StoredState } from '#libs/session';
import { decodeFailure, type KeysOf, openSession } from './redis-codec.js';

/** Reads what claim.lua returns. */
export function readClaimReply(reply: unknown, { merchant, owner }: ClaimRequest): ClaimResult {
  const [kind, ...texts] = reply as [ClaimResult['kind'], ...string[]];
  const [first, second, third] = texts.map(Number) as [number, number, number];
  switch (kind) {
    case 'claimed':
      return { kind, lease: { merchant, owner, fence: first, remainingMs: second, failures: third } };
    case 'already_newer':
      return { kind, generation: first };
    case 'budget_exhausted':
      return { kind, retryInMs: first, perMs: second };
    default:
      return { kind, retryInMs: first };
  }
}

/** What read.lua returns for one merchant; a failure that is absent is empty. */
export type ReadReply = readonly [
  stored: readonly [kind: string, generation: string, ageMs?: string, sealed?: string],
  failure: string,
  dueInMs: string,
  report?: readonly [ageMs: string, diedEarly: string],
];

interface StateReading {
  readonly merchant: string;
  readonly keysOf: KeysOf;
  /** The store's clock when it answered. */
  readonly nowMs: number;
}

export async function readState(reply: ReadReply, reading: StateReading): Promise<StoredState> {
  const [stored, failureText, dueInMs, report] = reply;
  const failure = failureText === '' ? undefined : decodeFailure(failureText, reading.nowMs);
  return {
    merchant: reading.merchant,
    stored: await readSession(stored, reading),
    ...(report && { reportedDead: readReport(report, Number(stored[1])) }),
    ...(failure && { failure }),
    dueInMs: Number(dueInMs),
  };
}

async function readSession(stored: ReadReply[0], { merchant, keysOf }: StateReading): Promise<StoredSession> {
  const [kind, generationText, ageText, sealed = ''] = stored;
  const [generation, ageMs] = [Number(generationText), Number(ageText)];
  if (kind === 'absent') return { kind };
  if (kind === 'unchanged') return { kind, ageMs };
  const session = kind === 'session' ? await openSession(sealed, { merchant, generation }, keysOf) : undefined;
  return session === undefined ? { kind: 'unopenable', generation } : { kind: 'session', session, ageMs };
}

function readReport([ageMs, early]: NonNullable<ReadReply[3]>, generation: number): StoredReport {
  return { generation, ageMs: Number(ageMs), diedEarly: early === '1' };
}
