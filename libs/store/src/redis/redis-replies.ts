import type {
  ClaimRequest,
  ClaimResult,
  ReportResult,
  StoredReport,
  StoredSession,
  StoredState,
} from '#libs/session';
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

/** Reads what report.lua returns. */
export function readReportReply(reply: unknown): ReportResult {
  const [isKept, diedEarly] = reply as [number, number];
  return { isKept: isKept === 1, diedEarly: diedEarly === 1 };
}

/** What read.lua returns for one merchant; absent values are empty. */
export type ReadReply = readonly [
  kind: string,
  generation: string,
  sealed: string,
  ageMs: string,
  failure: string,
  dueInMs: string,
  reportedAgeMs?: string,
  heldUpBy?: string,
  heldUpMs?: string,
  diedEarly?: string,
];

interface StateReading {
  readonly merchant: string;
  readonly keysOf: KeysOf;
  /** The store's clock when it answered. */
  readonly nowMs: number;
}

export async function readState(reply: ReadReply, reading: StateReading): Promise<StoredState> {
  const [, generation, , , failureText, dueInMs] = reply;
  const { merchant, nowMs } = reading;
  const failure = failureText === '' ? undefined : decodeFailure(failureText, nowMs);
  const reportedDead = readReport(reply, Number(generation));
  return {
    merchant,
    stored: await readSession(reply, reading),
    ...(reportedDead === undefined ? {} : { reportedDead }),
    ...(failure === undefined ? {} : { failure }),
    dueInMs: Number(dueInMs),
  };
}

async function readSession(reply: ReadReply, { merchant, keysOf }: StateReading): Promise<StoredSession> {
  const [kind, generationText, sealed, ageText] = reply;
  const [generation, ageMs] = [Number(generationText), Number(ageText)];
  if (kind === 'absent') return { kind };
  if (kind === 'unchanged') return { kind, ageMs };
  const session = kind === 'session' ? await openSession(sealed, { merchant, generation }, keysOf) : undefined;
  return session === undefined ? { kind: 'unopenable', generation } : { kind: 'session', session, ageMs };
}

/** A hold-up that only a later version knows is shown as a report without one. */
function readReport(reply: ReadReply, generation: number): StoredReport | undefined {
  const [, , , , , , ageMs, by, forMs, early] = reply;
  if (ageMs === undefined) return undefined;
  const isHeldUp = by === 'budget' || by === 'cool_down';
  const heldUp = isHeldUp ? { heldUp: { by, forMs: Number(forMs) } as const } : {};
  return { generation, ageMs: Number(ageMs), ...heldUp, diedEarly: early === '1' };
}
