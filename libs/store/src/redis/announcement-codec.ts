import { instantFromEpochMs } from '#libs/clock';
import {
  type Announcement,
  checkedTrace,
  gatewayFailureKinds,
  type HandoverSignal,
  type RecordedFailure,
  type ReplicaSignal,
} from '#libs/session';

/** Replicas of this version use only a part of what earlier versions need: the messages keep their shape for those. */
export function encodePublished(merchant: string, generation: number): string {
  return JSON.stringify({ kind: 'published', merchant, generation });
}

export function encodeFailed(merchant: string, failure: RecordedFailure, retryInMs: number): string {
  return JSON.stringify({ kind: 'failed', merchant, failure, retryInMs });
}

/** Replicas of versions that do not know the signal ignore it. */
export function encodeSignal(signal: ReplicaSignal): string {
  return JSON.stringify(signal);
}

/** Versions before this one ignore it. */
export function encodeCondemned(merchant: string): string {
  return JSON.stringify({ kind: 'condemned', merchant });
}

/** Versions before this one ignore it. */
export function encodeReportedDead(merchant: string): string {
  return JSON.stringify({ kind: 'reported_dead', merchant });
}

const MAX_MESSAGE_LENGTH = 4_096;
const MAX_MERCHANT_LENGTH = 200;
const KINDS: ReadonlySet<unknown> = new Set([
  'published',
  'failed',
  'condemned',
  'reported_dead',
  'handover',
  'unopenable',
]);

/**
 * Anybody with access to the channel can send anything, including a later version of ours: a message names a merchant
 * whose state may have changed, and apart from that only the generation is used.
 * @returns undefined for what this version does not know
 */
export function decodeAnnouncement(text: string): Announcement | undefined {
  if (text.length > MAX_MESSAGE_LENGTH) return undefined;
  const message = parseObject(text) ?? {};
  const { kind, merchant, generation } = message;
  if (!KINDS.has(kind) || !isMerchant(merchant)) return undefined;
  if (kind === 'handover') return isGeneration(generation) ? handoverOf(message, { merchant, generation }) : undefined;
  if (kind === 'unopenable') return isGeneration(generation) ? { kind, merchant, generation } : undefined;
  if (kind !== 'published' || !isGeneration(generation)) return { kind: 'changed', merchant };
  return { kind: 'changed', merchant, generation };
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

export function encodeFailure(failure: RecordedFailure): string {
  return JSON.stringify(failure);
}

const TEN_YEARS_MS = 10 * 365.25 * 86_400_000;

const failureKinds: ReadonlySet<unknown> = new Set(gatewayFailureKinds);

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
