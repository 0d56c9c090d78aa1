import { instantFromEpochMs } from '#libs/clock';
import { type Announcement, gatewayFailureKinds, type RecordedFailure } from '#libs/session';

/** Replicas of this version listen to a part of what earlier versions need: the messages keep their shape for those. */
export function encodePublished(merchant: string, generation: number): string {
  return JSON.stringify({ kind: 'published', merchant, generation });
}

export function encodeFailed(merchant: string, failure: RecordedFailure, retryInMs: number): string {
  return JSON.stringify({ kind: 'failed', merchant, failure, retryInMs });
}

/** Those before this version pass it over. */
export function encodeCondemned(merchant: string): string {
  return JSON.stringify({ kind: 'condemned', merchant });
}

const MAX_MESSAGE_LENGTH = 4_096;
const MAX_MERCHANT_LENGTH = 200;

/**
 * Anybody with access to the channel can send anything, a later version of ours included: a message names a merchant
 * whose state may have changed, and nothing else of it is used but the generation.
 * @returns undefined for what this version does not know
 */
export function decodeAnnouncement(text: string): Announcement | undefined {
  if (text.length > MAX_MESSAGE_LENGTH) return undefined;
  const { kind, merchant, generation } = parseObject(text) ?? {};
  if (kind !== 'published' && kind !== 'failed' && kind !== 'condemned') return undefined;
  if (typeof merchant !== 'string' || merchant === '' || merchant.length > MAX_MERCHANT_LENGTH) return undefined;
  if (kind !== 'published' || !isGeneration(generation)) return { kind: 'changed', merchant };
  return { kind: 'changed', merchant, generation };
}

const isGeneration = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

export function encodeFailure(failure: RecordedFailure): string {
  return JSON.stringify(failure);
}

const TEN_YEARS_MS = 10 * 365.25 * 86_400_000;

const failureKinds: ReadonlySet<unknown> = new Set(gatewayFailureKinds);

/**
 * Reads a failure from a record that others can write to: it is shown to operators and consumers, and so is checked
 * like what a gateway sends.
 * @param nowMs the store's clock: a failure lies within ten years of it
 * @returns undefined for what this version does not know
 */
export function decodeFailure(text: string, nowMs: number): RecordedFailure | undefined {
  const { kind, msgCode, at } = parseObject(text) ?? {};
  if (!failureKinds.has(kind) || typeof at !== 'number' || !(Math.abs(at - nowMs) <= TEN_YEARS_MS)) return undefined;
  return {
    kind: kind as RecordedFailure['kind'],
    at: instantFromEpochMs(at),
    ...(isCode(msgCode) ? { msgCode } : {}),
  };
}

/** The rule by which the gateway's codes are let in. */
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
