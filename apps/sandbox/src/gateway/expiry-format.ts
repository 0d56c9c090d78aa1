import { toRfc3339, type Instant } from '#libs/clock';

/**
 * How the expiry of a session is written (interface description, section "Session"): as documented; with the fraction
 * padded to four digits and the same time also under the observed name; under the observed names; with `Z`; in all
 * three members at once, as one published client requires; not at all.
 */
export const expiryFormats = ['all', 'documented', 'padded', 'observed', 'zulu', 'sessionExpiration', 'none'] as const;
export type ExpiryFormat = (typeof expiryFormats)[number];

interface ExpiryStyle {
  readonly format: ExpiryFormat;
  /** Minutes that the written time is ahead of UTC; the instant is the same. */
  readonly utcOffsetMinutes: number;
}

type ExpiryMember = 'tokenExpirationDateTime' | 'tokenExpiration' | 'sessionExpiration';

/** The members of a session that say when it expires. */
export function expiryMembers(expiresAt: Instant, style: ExpiryStyle): Readonly<Partial<Record<ExpiryMember, string>>> {
  const tokenExpirationDateTime = documented(expiresAt, style);
  const tokenExpiration = observed(expiresAt, style);
  const sessionExpiration = tokenExpiration;
  return {
    all: { tokenExpirationDateTime, tokenExpiration, sessionExpiration },
    documented: { tokenExpirationDateTime },
    padded: { tokenExpirationDateTime: padded(expiresAt, style), tokenExpiration },
    observed: { tokenExpiration },
    zulu: { tokenExpirationDateTime: `${dateAndSecond(expiresAt, 0)}.${milliseconds(expiresAt)}Z` },
    sessionExpiration: { sessionExpiration },
    none: {},
  }[style.format];
}

/** `2023-03-18 12:34:52.0998 +0000`: a decimal fraction of four digits, a space, an offset without a colon. */
function documented(at: Instant, { utcOffsetMinutes }: ExpiryStyle): string {
  const tenthsOfMs = Math.floor((at % 1_000) * 10);
  const fraction = String(tenthsOfMs).padStart(4, '0');
  return `${dateAndSecond(at, utcOffsetMinutes)}.${fraction} ${offset(utcOffsetMinutes, '')}`;
}

/**
 * `2025-02-27 14:12:34.0430 +0200` for what is `.430`: milliseconds with a leading zero, which is not a decimal
 * fraction.
 */
function padded(at: Instant, { utcOffsetMinutes }: ExpiryStyle): string {
  return `${dateAndSecond(at, utcOffsetMinutes)}.0${milliseconds(at)} ${offset(utcOffsetMinutes, '')}`;
}

/** `2025-02-27 14:12:34.430+02:00`: milliseconds, no space, an offset with a colon. */
function observed(at: Instant, { utcOffsetMinutes }: ExpiryStyle): string {
  return `${dateAndSecond(at, utcOffsetMinutes)}.${milliseconds(at)}${offset(utcOffsetMinutes, ':')}`;
}

function dateAndSecond(at: Instant, utcOffsetMinutes: number): string {
  const local = toRfc3339((at + utcOffsetMinutes * 60_000) as Instant);
  return local.slice(0, 19).replace('T', ' ');
}

function milliseconds(at: Instant): string {
  return String(Math.floor(at % 1_000)).padStart(3, '0');
}

function offset(minutes: number, separator: '' | ':'): string {
  const [hour, minute] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60].map((part) =>
    String(part).padStart(2, '0'),
  );
  return `${minutes < 0 ? '-' : '+'}${hour}${separator}${minute}`;
}
