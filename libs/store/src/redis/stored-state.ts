import type { DeathReport, StoredSession, StoredState } from '#libs/session';
import { decodeFailure } from './announcement-codec.js';
import { type KeysOf, openSession } from './session-record.js';

/** What read.lua returns for one merchant; absent values are empty. */
export type ReadReply = readonly [
  kind: string,
  generation: string,
  sealed: string,
  ageMs: string,
  failure: string,
  dueInMs: string,
  dueMark: string,
  condemned: string,
  reportedAgeMs?: string,
  heldUpBy?: string,
  heldUpMs?: string,
];

export const NOTHING_STORED: ReadReply = ['absent', '', '', '', '', '', '', ''];

interface StateReading {
  readonly merchant: string;
  readonly keysOf: KeysOf;
  /** The store's clock when it answered. */
  readonly nowMs: number;
}

export async function storedState(reply: ReadReply, reading: StateReading): Promise<StoredState> {
  const [, , , , failureText, dueInMs, dueMark, condemned] = reply;
  const { merchant, nowMs } = reading;
  const failure = failureText === '' ? undefined : decodeFailure(failureText, nowMs);
  return {
    merchant,
    stored: await storedSession(reply, reading),
    ...(condemned === '' ? {} : { condemned: Number(condemned) }),
    ...reportedDead(reply),
    ...(failure === undefined ? {} : { failure }),
    ...(dueInMs === '' ? {} : { dueInMs: Math.max(0, Number(dueInMs)), dueMark }),
  };
}

const holdUps: ReadonlySet<string> = new Set<NonNullable<DeathReport['heldUp']>['by']>(['budget', 'cool_down']);

/** A hold-up that only a later version knows is shown as a report without one. */
function reportedDead(reply: ReadReply): Pick<StoredState, 'reportedDead'> {
  const [, generation, , , , , , , ageMs, by = '', forMs] = reply;
  if (ageMs === undefined) return {};
  const report = { generation: Number(generation), ageMs: Number(ageMs) };
  if (!holdUps.has(by)) return { reportedDead: report };
  const heldUp = { by, forMs: Number(forMs) } as NonNullable<DeathReport['heldUp']>;
  return { reportedDead: { ...report, heldUp } };
}

async function storedSession(reply: ReadReply, { merchant, keysOf }: StateReading): Promise<StoredSession> {
  const [kind, generationText, sealed, ageText] = reply;
  const [generation, ageMs] = [Number(generationText), Number(ageText)];
  if (kind === 'absent') return { kind };
  if (kind === 'unchanged') return { kind, ageMs };
  const session = kind === 'session' ? await openSession(sealed, { merchant, generation }, keysOf) : undefined;
  return session === undefined ? { kind: 'unopenable', generation } : { kind: 'session', session, ageMs };
}
