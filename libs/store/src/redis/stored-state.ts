import type { StoredSession, StoredState } from '#libs/session';
import { decodeFailure } from './announcement-codec.js';
import { type KeysOf, openSession } from './session-record.js';

/** What read.lua returns for one merchant; what is absent is empty. */
export type ReadReply = readonly [generation: string, sealed: string, ageMs: string, failure: string, dueInMs: string];

export async function storedState(merchant: string, reply: ReadReply, keysOf: KeysOf): Promise<StoredState> {
  const [, , , failureText, dueInMs] = reply;
  const failure = failureText === '' ? undefined : decodeFailure(failureText);
  return {
    merchant,
    stored: await storedSession(merchant, reply, keysOf),
    ...(failure === undefined ? {} : { failure }),
    ...(dueInMs === '' ? {} : { dueInMs: Math.max(0, Number(dueInMs)) }),
  };
}

async function storedSession(merchant: string, reply: ReadReply, keysOf: KeysOf): Promise<StoredSession> {
  const [generationText, sealed, ageMs] = reply;
  if (generationText === '') return { kind: 'absent' };
  const generation = Number(generationText);
  const session = await openSession(sealed, { merchant, generation }, keysOf);
  return session === undefined
    ? { kind: 'unopenable', generation }
    : { kind: 'session', session, ageMs: Math.max(0, Number(ageMs)) };
}
