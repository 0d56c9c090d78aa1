import { instantFromEpochMs } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { type ClientKey, openAtRest, sealAtRest } from '#libs/jwe';
import {
  type Announcement,
  checkedTrace,
  type HandoverSignal,
  type RecordedFailure,
  type Session,
  sharedFailureKinds,
} from '#libs/session';

// ---- Announcements, in JSON

const MAX_MESSAGE_LENGTH = 4_096;
const MAX_MERCHANT_LENGTH = 200;

/**
 * Anybody with access to the channel can send anything, including a later version of ours: a message names a merchant
 * whose state may have changed, and apart from that only the generation is used.
 * @returns undefined for what this version does not know
 */
export function decodeAnnouncement(text: string): Announcement | undefined {
  if (text.length > MAX_MESSAGE_LENGTH) return undefined;
  const message = parseObject(text) ?? {};
  const { kind, merchant, generation } = message;
  if (!isMerchant(merchant)) return undefined;
  if (kind === 'changed') return { kind, merchant, ...(isGeneration(generation) ? { generation } : {}) };
  return kind === 'handover' && isGeneration(generation) ? handoverOf(message, { merchant, generation }) : undefined;
}

/** Consumers hold payments during a hand-over: nobody who can write to the channel can make that longer than this. */
const MAX_HOLD_MS = 10_000;
const MAX_PARTICIPANTS = 100_000;
const PARTICIPANT = /^[\w-]{1,64}$/;

function handoverOf(
  { step, holdForMs, participants, participant }: Record<string, unknown>,
  subject: Pick<HandoverSignal, 'merchant' | 'generation'>,
): Announcement | undefined {
  const told = { kind: 'handover', ...subject } as const;
  if (step === 'begins' && isWithin(holdForMs, 1, MAX_HOLD_MS)) return { ...told, step, holdForMs };
  if (step === 'holding' && isWithin(participants, 0, MAX_PARTICIPANTS)) return { ...told, step, participants };
  if (step === 'ready' && typeof participant === 'string' && PARTICIPANT.test(participant)) {
    return { ...told, step, participant };
  }
  return step === 'ended' ? { ...told, step } : undefined;
}

const isWithin = (value: unknown, least: number, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;

const isMerchant = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= MAX_MERCHANT_LENGTH;

const isGeneration = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

// ---- Failures, in JSON

const TEN_YEARS_MS = 10 * 365.25 * 86_400_000;
const failureKinds: ReadonlySet<unknown> = new Set(sharedFailureKinds);

/**
 * Reads a failure from a record that others can write to: it is shown to operators and consumers, so it is checked like
 * what a gateway sends.
 * @param nowMs the store's clock: a failure lies within ten years of it
 * @returns undefined for what this version does not know
 */
export function decodeFailure(text: string, nowMs: number): RecordedFailure | undefined {
  const { kind, msgCode, at, trace: written } = parseObject(text) ?? {};
  if (!failureKinds.has(kind) || typeof at !== 'number' || !(Math.abs(at - nowMs) <= TEN_YEARS_MS)) return undefined;
  const trace = checkedTrace(written);
  return {
    kind: kind as RecordedFailure['kind'],
    at: instantFromEpochMs(at),
    ...(isCode(msgCode) ? { msgCode } : {}),
    ...(trace === undefined ? {} : { trace }),
  };
}

/** The same rule that the gateway's codes must meet. */
const isCode = (value: unknown): value is string => typeof value === 'string' && /^[A-Za-z0-9_.-]{1,64}$/.test(value);

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

// ---- Sessions

/**
 * The client keys of a merchant, newest first: that one seals, and all of them open. Empty for a merchant without
 * configured keys.
 */
export type KeysOf = (merchant: string) => readonly ClientKey[];

/** A later layout uses another number; a replica that does not know it treats the record as absent. */
const LAYOUT = 1;

/**
 * Seals a session for the store, bound to its merchant and generation.
 * @throws BrokerError `internal_error` if the merchant has no key: nobody could have created its session
 */
export async function sealSession(session: Session, keysOf: KeysOf): Promise<string> {
  const { merchant, generation } = session;
  const [newest] = keysOf(merchant);
  if (newest === undefined) {
    throw new BrokerError('internal_error', {
      detail: 'a session can only be stored for a merchant with a client key',
    });
  }
  const plaintext = Buffer.from(JSON.stringify({ layout: LAYOUT, session }), 'utf8');
  return sealAtRest(plaintext, newest, { merchant, generation });
}

/** @returns undefined if no configured key opens the record, or its content has the layout of another version */
export async function openSession(
  sealed: string,
  binding: { readonly merchant: string; readonly generation: number },
  keysOf: KeysOf,
): Promise<Session | undefined> {
  const plaintext = await openAtRest(sealed, keysOf(binding.merchant), binding);
  if (plaintext === undefined) return undefined;
  // It was sealed with the merchant's private key, and so by `sealSession`: the layout determines its shape.
  const record = JSON.parse(Buffer.from(plaintext).toString('utf8')) as { layout: unknown; session: Session };
  return record.layout === LAYOUT ? record.session : undefined;
}
