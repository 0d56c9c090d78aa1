import {
  DailyWindow,
  type DailyTimes,
  earliest,
  type Instant,
  latest,
  msBetween,
  plusMs,
  type Span,
} from '#libs/clock';

/** A younger session is not renewed for the sake of the quiet hours: no call should follow another at once. */
const MIN_AGE_MS = 300_000;
/**
 * Lifetimes vary with the time an answer takes and with clock steps: the next session is assumed to live this much
 * less.
 */
const UNCERTAIN_MS = 60_000;
/** A part of the quiet hours shorter than this share of them is too small to aim at. */
const MIN_SHARE = 0.01;

/** What decides when a session is renewed. */
export interface QuietLife {
  readonly createdAt: Instant;
  /** It is renewed by then at the latest, whatever the hour. */
  readonly latestAt: Instant;
  /** The place of its merchant among all, in [0, 1). */
  readonly place: number;
}

/**
 * The moment in quiet hours at which a session is renewed; undefined when it is renewed at `latestAt`. From the top:
 *
 *     created … [ quiet ] … [ quiet ] … latestAt      It reaches quiet hours: in the last of them, at its merchant's
 *                               *                     own moment, or as late as it lives.
 *     created in [ quiet ] … latestAt … [ quiet ]     It does not reach the next ones, but one created towards the
 *                        *                            end of these would: once more in these, towards their end.
 */
export function quietMoment(life: QuietLife, times: DailyTimes): Instant | undefined {
  const { createdAt, latestAt } = life;
  const daily = new DailyWindow(times);
  // A session that lives no longer than the quiet hours last is renewed in them anyway.
  if (msBetween(createdAt, latestAt) <= daily.lengthMs) return undefined;
  const windows = windowsWithin(life, daily);
  const index = windows.findLastIndex(
    ({ from, until }) => createdAt < from && isOldEnough(until, life) && from <= latestAt,
  );
  const [window = windows[0], next] = index < 0 ? windows : windows.slice(index);
  if (window === undefined || next === undefined) return undefined;
  const rhythm = rhythmOf(window, next, life);
  if (index >= 0) return momentIn(window, rhythm, life);
  return window.from <= createdAt ? momentAgainIn(window, rhythm, life) : undefined;
}

/** The windows it touches, and the one after them. */
function windowsWithin({ createdAt, latestAt }: QuietLife, daily: DailyWindow): readonly Span[] {
  const windows: Span[] = [];
  for (const window of daily.endingAfter(createdAt)) {
    windows.push(window);
    if (window.from > latestAt) break;
  }
  return windows;
}

function isOldEnough(until: Instant, { createdAt }: QuietLife): boolean {
  return until > plusMs(createdAt, MIN_AGE_MS);
}

/** How sessions with this lifetime get from one window to the next. */
interface Rhythm {
  /**
   * Sessions created in the window from this moment on are followed by the fewest renewals before the next window;
   * those created earlier in it, by one more.
   */
  readonly betterFrom: Instant;
  /** They reach the next window no earlier in it than this one. */
  readonly keepsTime: boolean;
}

function rhythmOf(window: Span, next: Span, { createdAt, latestAt }: QuietLife): Rhythm {
  const livesMs = msBetween(createdAt, latestAt);
  const reachMs = Math.max(livesMs - UNCERTAIN_MS, livesMs / 2);
  const lastAimMs = -MIN_SHARE * msBetween(window.from, window.until);
  const lives = Math.ceil(msBetween(plusMs(window.until, lastAimMs), next.from) / reachMs);
  return {
    betterFrom: latest(window.from, plusMs(next.from, -lives * reachMs)),
    keepsTime: lives * livesMs >= msBetween(window.from, next.from),
  };
}

function momentIn(window: Span, { betterFrom, keepsTime }: Rhythm, { createdAt, latestAt, place }: QuietLife): Instant {
  const own = pointIn(window, place);
  const until = earliest(window.until, latestAt);
  const from = latest(betterFrom, window.from, plusMs(createdAt, MIN_AGE_MS));
  if (from >= until || own > until) return until;
  // Sessions that come earlier every night have the longest way to go from the latest moment.
  if (!keepsTime && until === latestAt) return until;
  return own >= from ? own : pointIn({ from, until }, place);
}

/**
 * It lands beyond `betterFrom`, so it happens once per window. Sessions that come earlier every night arrive here from
 * the beginning of the window, and go to its end: that way a fleet that is spread over it stays so.
 */
function momentAgainIn(
  window: Span,
  { betterFrom }: Rhythm,
  { createdAt, latestAt, place }: QuietLife,
): Instant | undefined {
  if (createdAt >= betterFrom) return undefined;
  const until = earliest(window.until, latestAt);
  const landing = plusMs(until, -msBetween(window.from, betterFrom));
  const from = latest(landing, betterFrom, plusMs(createdAt, MIN_AGE_MS));
  return from >= until ? undefined : pointIn({ from, until }, place);
}

function pointIn({ from, until }: Span, place: number): Instant {
  return plusMs(from, Math.floor(place * msBetween(from, until)));
}
