import { type Instant, msBetween, plusMs } from '#libs/clock';
import {
  ageMsOf,
  generationOf,
  type Held,
  type LastingReport,
  type Merchant,
  type Now,
  serveFactsOf,
} from './merchant.js';
import type { DeathReport, RenewalResult, StoredReport } from './ports/session-store.js';
import type { SessionsBefore } from './session-admission.js';
import type { Session } from './session.js';

/**
 * The gateway's codes for a dead session, whatever the status (interface description, "Later requests"). A bare 401 is
 * none of them: it may come from a firewall, or mean one request alone.
 */
export const deathCodes: readonly string[] = [
  'b_expired_token',
  'b_used_token',
  'b_previous_auth_token_expired',
  'b_unknown_device',
  'b_session_doesnt_exist',
  'b_session_doesnt_exists',
];

export const isDeathCode = (reason: string | undefined): boolean => deathCodes.some((code) => code === reason);

/** A session found dead within this share of its lifetime died early, … */
const EARLY_SHARE = 0.25;
/** … but never later than this: a gateway that forgets a session now and then is not somebody else creating. */
const MAX_EARLY_MS = 3_600_000;
/** One early death is an event at the bank; this many in a row mean that somebody else creates sessions. */
const DEATHS_OF_A_DUEL = 2;
/** A consumer that meets a dead session reports it again within one pause: after this many, nobody meets one any more. */
const QUIET_PAUSES = 2;

function earlyUntilMs({ createdAt, expiresAt }: Session): number {
  return Math.min(MAX_EARLY_MS, EARLY_SHARE * msBetween(createdAt, expiresAt));
}

function isEarly(merchant: Merchant, held: Held, now: Now): boolean {
  return ageMsOf(merchant, now) < earlyUntilMs(held.session);
}

/** How many in a row have died early, with the held one; none if its own death proves nothing. */
function deathsUpTo(held: Held | undefined): number {
  const { deathsBefore } = held?.session ?? {};
  return deathsBefore === undefined ? 0 : deathsBefore + (held?.verdict === 'died_early' ? 1 : 0);
}

/**
 * Whether somebody else creates sessions of the merchant (ADR 21), as far as is known now: each session says how many
 * before it died early, and the store which of them did.
 */
export function areForeign(merchant: Merchant, now: Now): boolean {
  const { held } = merchant;
  if (held === undefined || deathsUpTo(held) < DEATHS_OF_A_DUEL) return false;
  if (held.verdict !== 'died_early') return isEarly(merchant, held, now);
  const ageMs = ageMsOf(merchant, now);
  const longMs = QUIET_PAUSES * pauseOf(now);
  // Silence after the end says nothing: nobody has a session left to report.
  const sinceEndMs = Math.max(0, ageMs - msBetween(held.session.createdAt, held.session.expiresAt));
  // A spent budget may refuse a report for longer than a pause: it is a report all the same.
  return Math.min(ageMs - earlyUntilMs(held.session), quietMs(merchant, now)) < longMs + sinceEndMs;
}

/** While somebody else creates and nobody has reported the held session: when that counts as over. */
export function overAt(merchant: Merchant, now: Now): Instant | undefined {
  const { held } = merchant;
  if (held === undefined || held.verdict === 'died_early' || !areForeign(merchant, now)) return undefined;
  return plusMs(held.session.createdAt, earlyUntilMs(held.session));
}

/** For how long nobody has reported the held session, as far as this replica knows. */
export function quietMs(merchant: Merchant, now: Now): number {
  const { reportedAtMs } = merchant.held ?? {};
  return reportedAtMs === undefined ? ageMsOf(merchant, now) : now.ms - reportedAtMs;
}

function pauseOf({ settings }: Now): number {
  return settings?.foreignAuthorizerPauseMs ?? 0;
}

/** How far apart renewals for rejections are kept: far if somebody else creates, or if the bank did not say. */
export function pauseMs(merchant: Merchant, reason: string | undefined, now: Now): number {
  const isApart = areForeign(merchant, now) || !isDeathCode(reason);
  return isApart ? pauseOf(now) : 0;
}

/**
 * What the next session has to say about those before it.
 * @param isDoubtful an earlier call may still be carried out, and end it
 */
export function beforeNext(merchant: Merchant, isDoubtful: boolean, now: Now): SessionsBefore {
  const { held } = merchant;
  const deaths = deathsUpTo(held);
  if (areForeign(merchant, now)) return { deathsBefore: deaths };
  if (isDoubtful) return {};
  // The duel is over: the next session would revive it without a new death.
  if (deaths >= DEATHS_OF_A_DUEL) return { deathsBefore: 0 };
  const counts = held === undefined || held.verdict === 'died_early' || isEarly(merchant, held, now);
  return { deathsBefore: counts ? deaths : 0 };
}

/**
 * Whether the death of the held session would prove something. Nothing counts in an outage, nor while others may still
 * offer what the store has lost.
 */
export function isTelling(merchant: Merchant, reason: string | undefined, now: Now): boolean {
  const { held } = merchant;
  if (held?.session.deathsBefore === undefined) return false;
  return isDeathCode(reason) && held.verdict === 'unknown' && now.graceMs === 0 && isEarly(merchant, held, now);
}

/** The store says that it died early. It was reported no later than its youth, however late this replica learns of it. */
export function diedEarly(held: Held, now: Now): Held {
  if (held.verdict === 'died_early') return held;
  const youngUntilMs = Math.min(now.ms, held.answeredAtMs + earlyUntilMs(held.session));
  return { ...reportedAt(held, youngUntilMs), isReported: true, verdict: 'died_early' };
}

function reportedAt(held: Held, atMs: number): Held {
  return { ...held, reportedAtMs: Math.max(atMs, held.reportedAtMs ?? -Infinity) };
}

/** What keeps a session from being replaced. Any other outcome of a report is announced, or passes in a moment. */
const LASTING: ReadonlySet<RenewalResult['kind']> = new Set([
  'budget_exhausted',
  'backing_off',
  'cooled_down',
  'store_down',
]);
/** Reports that go on are passed on again after this share of a pause: without a new one for a whole pause, none stands. */
const SAID_AGAIN_PER_PAUSE = 0.5;

/** The report that stands once a wish for a newer session has ended like this; the known one if nothing is news. */
export function reportAfter(
  merchant: Merchant,
  { generation, result }: { readonly generation: number; readonly result: RenewalResult | undefined },
  now: Now,
): LastingReport | undefined {
  const { report: known, held } = merchant;
  if (held?.session.generation !== generation || result === undefined || !LASTING.has(result.kind)) return known;
  const isRepeated = known !== undefined && now.ms - known.atMs < SAID_AGAIN_PER_PAUSE * pauseOf(now);
  return isRepeated ? known : { atMs: now.ms, store: 'untold' };
}

/** The store has been read: what it has on the held session, which may have been reported to any replica. */
export function withStoredReport(merchant: Merchant, stored: StoredReport | undefined, now: Now): Merchant {
  const { held, report: known } = merchant;
  if (held === undefined) return merchant;
  if (stored?.generation !== held.session.generation) {
    // A store that has lost a report is told again.
    const isLost = stored === undefined && stands(known, now) && known.store === 'told';
    return isLost ? { ...merchant, report: { ...known, store: 'untold' } } : merchant;
  }
  const judged = stored.diedEarly ? diedEarly(held, now) : held;
  // With a store clock that was set back, one old report would look new every time.
  const isDuel = judged.verdict === 'died_early' && stored.ageMs >= 0;
  const reported = { ...(isDuel ? reportedAt(judged, now.ms - stored.ageMs) : judged), isReported: true };
  const isFromStore = known === undefined || known.store === 'told';
  // However the store's clock was moved, it is none of the future.
  const report = isFromStore ? ({ atMs: now.ms - Math.max(0, stored.ageMs), store: 'told' } as const) : known;
  return { ...merchant, held: reported, report };
}

/** For the store: the report that stands, or one of now. */
export function storedForm(merchant: Merchant, mayProve: boolean, now: Now): DeathReport {
  const ageMs = now.ms - (merchant.report?.atMs ?? now.ms);
  return { generation: generationOf(merchant), ageMs, mayProve };
}

/** Whether the session that is served is dead by what consumers say. After its end it is replaced like any other. */
export function isReportedDead(merchant: Merchant, now: Now): boolean {
  return stands(merchant.report, now) && serveFactsOf(merchant, now).leftMs > 0;
}

/** Whoever meets a dead session meets it again within a pause: a single report was a mistake. */
function stands(report: LastingReport | undefined, now: Now): report is LastingReport {
  return report !== undefined && now.ms - report.atMs < pauseOf(now);
}
