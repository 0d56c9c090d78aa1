import type { DailyTimes, Instant } from '#libs/clock';

/** A public P-384 key as the gateway gives it in a session: exactly these four members. */
export interface ServerPublicKey {
  readonly kty: 'EC';
  readonly crv: 'P-384';
  readonly x: string;
  readonly y: string;
}

/**
 * A technical session of a merchant: one versioned unit, immutable. Token, device, server key, expiry and generation
 * travel together everywhere, because a token of one generation with the key of another breaks a payment.
 */
export interface Session {
  readonly merchant: string;
  /** Only grows per merchant, even across restarts, replicas and a wiped store. "Newer" is judged by nothing else. */
  readonly generation: number;
  readonly authToken: string;
  readonly deviceId: string;
  readonly refreshToken?: string;
  readonly serverPublic: ServerPublicKey;
  /** RFC 7638 thumbprint of the client key that opened the gateway's answer. */
  readonly clientKeyThumbprint: string;
  readonly createdAt: Instant;
  /**
   * How many sessions in a row before this one were found dead early, through no action of ours. Absent if a call of
   * ours may still end it.
   */
  readonly deathsBefore?: number;
  readonly expiresAt: Instant;
  /** From here on a replica renews in the background while everyone keeps being served. */
  readonly renewAt: Instant;
  /** Expiry less the safety margin: from here on the session is not handed out as fresh. */
  readonly mustRenewAt: Instant;
}

/** What is left of a session until its expiry and until its renewal, whatever wall clocks say. */
export interface SessionLeft {
  readonly expiresInMs: number;
  readonly renewInMs: number;
}

/** What the gateway issued, opened and checked, before the domain gives it a generation and its moments. */
export interface IssuedSession extends Pick<
  Session,
  'authToken' | 'deviceId' | 'refreshToken' | 'serverPublic' | 'clientKeyThumbprint'
> {
  /** The earliest expiry that the answer names, by the gateway's clock; absent if it names none. */
  readonly expiresAt?: Instant;
  readonly sentAt: Instant;
  readonly receivedAt: Instant;
  /** The gateway's `Date` header (whole seconds), if there was one. */
  readonly gatewayDate?: Instant;
  readonly requestId?: string;
}

export function haveSameServerKey(left: Session, right: Session): boolean {
  return left.serverPublic.x === right.serverPublic.x && left.serverPublic.y === right.serverPublic.y;
}

/** How long before expiry something happens: a share of the session's lifetime, or a fixed time. */
export type LeadTime =
  { readonly kind: 'share'; readonly share: number } | { readonly kind: 'duration'; readonly durationMs: number };

/** How one merchant's sessions are renewed. Durations in milliseconds. */
export interface SessionSettings {
  /**
   * How long before expiry a replica renews. `undefined`: the default, 20 % and at least two gateway timeouts; at most
   * five minutes with quiet hours, which a session of one day reaches only with a short lead time.
   */
  readonly renewBefore: LeadTime | undefined;
  /** A session is renewed at this age, however long it lives. `undefined`: only its expiry counts. */
  readonly renewEveryMs: number | undefined;
  /** Hours in which sessions are renewed rather than between them. `undefined`: any hour is as good as another. */
  readonly quietHours: DailyTimes | undefined;
  /** How long before expiry a session stops being handed out as fresh. `undefined`: 5 %, at most 30 s. */
  readonly safetyMargin: LeadTime | undefined;
  /** Lifetime of a session whose answer names no expiry, counted from when the request was sent. */
  readonly fallbackLifetimeMs: number;
  /** For the whole create-session call, from connect to last byte. */
  readonly gatewayTimeoutMs: number;
  /** As it is written: see `budgetInForce`. */
  readonly budget: CreateCallBudget;
  /** The longest lifetime that is believed of a session, whatever its answer and the gateway's clock say. */
  readonly longestLifetimeMs: number;
  /** Beyond this one of the clocks is wrong, and the shorter of the two readings of an expiry counts. */
  readonly largestClockSkewMs: number;
  /** While somebody else creates sessions of the merchant, rejections create at most one in this time. */
  readonly foreignAuthorizerPauseMs: number;
  /** Whether a new session ends the one before (published: it does). Anything but `false` is treated as if it did. */
  readonly supersedes: boolean | 'unknown';
  /** How long at most a planned renewal waits for consumers to let their calls end; 0: it does not ask them. */
  readonly handoverMs: number;
}

/** At most `calls` create calls, which are one at least, in any `perMs`. */
export interface CreateCallWindow {
  readonly calls: number;
  readonly perMs: number;
}

/**
 * Each window applies per merchant, across all replicas and restarts: a short one stops a storm, a long one a mistake
 * that is slowly repeated. A call counts for as long as the longest window looks back, so no store keeps more calls
 * than that one allows.
 */
export type CreateCallBudget = readonly CreateCallWindow[];

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * The place of a merchant among all, in [0, 1): always the same for one id, and evenly spread over any number of them,
 * even for ids that differ only in their last digit (FNV-1a, finished as in MurmurHash3).
 */
export function placeOf(merchant: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < merchant.length; index += 1) {
    hash = Math.imul(hash ^ merchant.charCodeAt(index), FNV_PRIME);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** Residue classes of generations: replicas of one class can get one number for two sessions. */
const CLASSES = 1_024;

/**
 * What a claim of this replica gives as its floor, so that the fence is one of its own class. If a store has forgotten
 * a claim and its clock is behind, floors alone decide: without this, two replicas would get one number for two
 * sessions. It stays the same until the floor has passed the fence, so that a repeated claim finds its own lease above it.
 */
export function floorOf(owner: string, floor: number): number {
  const residue = Math.floor(placeOf(owner) * CLASSES);
  const next = Math.floor(floor) + 1;
  return next + ((((residue - next) % CLASSES) + CLASSES) % CLASSES) - 1;
}
