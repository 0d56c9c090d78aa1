import { instantFromEpochMs } from '#libs/clock';
import type { Announcement, RecordedFailure } from '#libs/session';

export function encodeAnnouncement(announcement: Announcement): string {
  return JSON.stringify(announcement);
}

/**
 * Whoever may publish to the channel can send anything, a later version of ours included.
 * @returns undefined for what this version does not know
 */
export function decodeAnnouncement(text: string): Announcement | undefined {
  const message = parseObject(text);
  if (message === undefined || typeof message['merchant'] !== 'string') return undefined;
  const { kind, merchant, generation, failure, retryInMs } = message as Record<string, unknown> & { merchant: string };
  if (kind === 'published' && Number.isSafeInteger(generation)) {
    return { kind, merchant, generation: generation as number };
  }
  const recorded = typeof failure === 'object' && failure !== null ? failureOf(failure) : undefined;
  if (kind !== 'failed' || recorded === undefined || !isFiniteNumber(retryInMs)) return undefined;
  return { kind, merchant, failure: recorded, retryInMs };
}

const isFiniteNumber = (value: unknown): value is number => Number.isFinite(value);

export function encodeFailure(failure: RecordedFailure): string {
  return JSON.stringify(failure);
}

/** @returns undefined for what this version does not know */
export function decodeFailure(text: string): RecordedFailure | undefined {
  const message = parseObject(text);
  return message === undefined ? undefined : failureOf(message);
}

/** The last moment that ECMAScript's Date can hold. */
const LAST_MOMENT_MS = 8.64e15;

const failureKinds: ReadonlySet<unknown> = new Set<RecordedFailure['kind']>([
  'transient',
  'timeout',
  'refused',
  'revoked',
  'invalid_response',
  'aborted',
]);

function failureOf(message: object): RecordedFailure | undefined {
  const { kind, msgCode, at } = message as Record<string, unknown>;
  if (!failureKinds.has(kind) || typeof at !== 'number' || Math.abs(at) > LAST_MOMENT_MS) return undefined;
  return {
    kind: kind as RecordedFailure['kind'],
    at: instantFromEpochMs(at),
    ...(typeof msgCode === 'string' ? { msgCode } : {}),
  };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
