import { type Instant, msBetween, plusMs } from '#libs/clock';
import { decideServing, type ServeFacts, type ServeVerdict } from './decisions.js';
import type { RenewalTrigger } from './ports/session-events.js';
import type { ClaimRefusal, Lease, RecordedFailure } from './ports/session-store.js';
import { type SessionsBefore, SKEW_TOLERANCE_MS } from './session-admission.js';
import type { IssuedSession, Session, SessionSettings } from './session.js';

/** A wish for a newer session that has found nothing in its way so far. */
export interface Wish {
  readonly trigger: RenewalTrigger;
  /** Pointless when a generation above this one exists; 0 when any will do. */
  readonly newerThan: number;
  /** At least this long between two renewals that replace a living session early; 0 for one that replaces none. */
  readonly coolDownMs: number;
  /** The due moment has passed, or does not matter. */
  readonly isOverdue: boolean;
  /** The reason for the back-off is gone. */
  readonly ignoresBackOff: boolean;
  /** The back-off that somebody with nothing to use cuts short; it stands if the budget has no call for that. */
  readonly cutsShort?: ClaimRefusal;
}

/** A lease, and the monotonic moment at which this process must consider it lost, whatever the store may say. */
export interface Granted {
  readonly wish: Wish;
  readonly settings: SessionSettings;
  readonly lease: Lease;
  readonly endsAtMs: number;
  readonly grantedAtMs: number;
  /** Consumers hold their calls, and are told if no session comes. */
  readonly isHandedOver: boolean;
}

/** What this replica is doing for the merchant: one thing at a time. The diagram is in life.ts. */
type Phase =
  | { readonly at: 'idle' }
  | { readonly at: 'entering'; readonly wish: Wish }
  | { readonly at: 'claiming'; readonly wish: Wish; readonly settings: SessionSettings; readonly askedAtMs: number }
  | (Granted & { readonly at: 'handing_over' })
  | (Granted & { readonly at: 'calling'; readonly askedAtMs: number; readonly before: SessionsBefore })
  | (Granted & {
      readonly at: 'publishing';
      readonly issued: IssuedSession;
      readonly session: Session;
      readonly answeredAtMs: number;
    });

export interface Held {
  readonly session: Session;
  /** The monotonic moment of the gateway's answer: it ages from there, whatever wall clocks are set to. */
  readonly answeredAtMs: number;
  /** Where it is: in the store, as far as is known; only here, since this replica made it; or lost by the store. */
  readonly kept: 'in_store' | 'here_alone' | 'lost';
  /** Not offered before: the store has just refused it, or it has hit a bug of ours. */
  readonly restsUntilMs: number;
  readonly isReported: boolean;
  /** What its death proves, as the store says: that somebody else creates, or nothing. */
  readonly verdict: 'unknown' | 'died_early' | 'proves_nothing';
  readonly reportedAtMs: number | undefined;
}

/** A refusal that stands for a while: a thousand readers without a session cost one claim, not a thousand. */
export interface Block {
  readonly refusal: ClaimRefusal;
  readonly untilMs: number;
  /** From then on, somebody who has nothing to use may cut it short. */
  readonly bindsUntilMs: number;
  readonly coolDownMs: number;
}

/** What keeps a session from being created, and whom: everybody, or those alone who would replace a living one. */
export type Blocked = Readonly<Partial<Record<'everybody' | 'early', Block>>>;

/** A report of the held session that something lasting kept from being acted on. The other replicas read it in the store. */
export interface LastingReport {
  readonly atMs: number;
  /** Whether the store has it, as far as this replica knows. */
  readonly store: 'untold' | 'telling' | 'told';
}

/** All that one replica knows of one merchant: to forget the merchant is to forget this. Moments are monotonic. */
export interface Merchant {
  readonly id: string;
  readonly held: Held | undefined;
  /** The highest generation made, opened or called under: what the next claim has to be above. */
  readonly floor: number;
  /** The highest generation that the store has and none of our keys opens; 0 for one whose number is not believed. */
  readonly unopened: number | undefined;
  readonly phase: Phase;
  readonly isOffering: boolean;
  readonly blocked: Blocked;
  /** This process's own create calls: a ceiling that holds whatever the store counts. */
  readonly callsAtMs: readonly number[];
  /** The last one since the last session, whichever replica made the call. */
  readonly failure: RecordedFailure | undefined;
  /** Consumers report the held session, and it could not be replaced. */
  readonly report: LastingReport | undefined;
  /** When the store is looked at next, in case an announcement was lost; and how many looks found nothing new. */
  readonly lookAtMs: number;
  readonly looks: number;
  /** The look under way was planned: what is due then is renewed. */
  readonly isLookedAt: boolean;
  readonly isSaidEnded: boolean;
  readonly isSaidForeign: boolean;
  /** The one timer: the next of these moments. */
  readonly wakeAtMs: number;
}

export interface Now {
  readonly ms: number;
  readonly wall: Instant;
  /** How long the process may have slept without its monotonic clock noticing, until the store has shown which is right. */
  readonly suspectMs: number;
  readonly chance: number;
  /** Undefined once the merchant is no longer configured. */
  readonly settings: SessionSettings | undefined;
  /** What is left of the time in which other replicas tell the store what it has lost. */
  readonly graceMs: number;
  /** The store is silent, or refuses. */
  readonly isStoreDown: boolean;
  readonly isStopping: boolean;
}

export type Moment = Pick<Now, 'ms' | 'suspectMs'>;

/** The moments of a session are whole milliseconds: the truth is up to one later. */
const RESOLUTION_MS = 1;

export function unknownMerchant(id: string): Merchant {
  return {
    id,
    held: undefined,
    floor: 0,
    unopened: undefined,
    phase: { at: 'idle' },
    isOffering: false,
    blocked: {},
    callsAtMs: [],
    failure: undefined,
    report: undefined,
    lookAtMs: Infinity,
    looks: 0,
    isLookedAt: false,
    isSaidEnded: false,
    isSaidForeign: false,
    wakeAtMs: Infinity,
  };
}

export function heldFrom(session: Session, answeredAtMs: number, rest: Partial<Held> = {}): Held {
  return {
    session,
    answeredAtMs,
    kept: 'in_store',
    restsUntilMs: -Infinity,
    isReported: false,
    verdict: 'unknown',
    reportedAtMs: undefined,
    ...rest,
  };
}

export function generationOf({ held }: Merchant): number {
  return held?.session.generation ?? 0;
}

/** What a renewal would replace, and what need not be read again: it is held, or newer and cannot be opened. */
export function knownOf(merchant: Merchant): number {
  return Math.max(generationOf(merchant), merchant.unopened ?? 0);
}

/** The generation of a newer session that the store has and none of our keys opens; undefined while there is none. */
export function unopenedOf(merchant: Merchant): number | undefined {
  const { unopened = 0 } = merchant;
  return unopened > generationOf(merchant) ? unopened : undefined;
}

/** Since the gateway's answer; 0 when nothing is held. */
export function ageMsOf({ held }: Merchant, now: Pick<Now, 'ms'>): number {
  return held === undefined ? 0 : now.ms - held.answeredAtMs;
}

/**
 * Time left, counted from the gateway's answer by the monotonic clock. A wall clock that got ahead of it may show that
 * the machine was suspended: until the store has shown which of the two is right, the pessimistic one counts.
 */
export function serveFactsOf(merchant: Merchant, now: Moment): ServeFacts {
  const { held } = merchant;
  if (held === undefined) return { held: false, leftMs: 0, freshMs: 0 };
  const { createdAt, expiresAt, mustRenewAt } = held.session;
  const leftMs = msBetween(createdAt, expiresAt) - ageMsOf(merchant, now) - now.suspectMs - RESOLUTION_MS;
  return { held: true, leftMs, freshMs: leftMs - msBetween(mustRenewAt, expiresAt) };
}

export function verdictOn(merchant: Merchant, now: Moment): ServeVerdict {
  return decideServing(serveFactsOf(merchant, now));
}

/** Until renewAt; zero or less from then on, and when there is no session. */
export function untilRenewalMsOf(merchant: Merchant, now: Moment): number {
  const { held } = merchant;
  if (held === undefined) return 0;
  return serveFactsOf(merchant, now).leftMs - msBetween(held.session.renewAt, held.session.expiresAt);
}

/** How long there is something to serve, as far as anybody knows; 0 for a session that is over, or reported dead. */
export function liveForMsOf(merchant: Merchant, now: Moment): number {
  return merchant.held?.isReported === true ? 0 : Math.max(0, serveFactsOf(merchant, now).leftMs);
}

/**
 * The moments of the session as they are, unless the wall clocks of its maker and ours disagree: then shifted to ours,
 * since a wrong clock must harm nobody but its owner.
 */
export function onOurClock(session: Session, ageMs: number, wall: Instant): Session {
  const createdAt = plusMs(wall, -ageMs);
  const byMs = msBetween(session.createdAt, createdAt);
  if (Math.abs(byMs) <= SKEW_TOLERANCE_MS) return session;
  return {
    ...session,
    createdAt,
    expiresAt: plusMs(session.expiresAt, byMs),
    renewAt: plusMs(session.renewAt, byMs),
    mustRenewAt: plusMs(session.mustRenewAt, byMs),
  };
}
