import { type Instant, earliest, instantFromEpochMs } from '#libs/clock';

const MOMENT = /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.(\d{0,9}))? ?(?:([+-])(\d{2}):?(\d{2})|[Zz])$/;
/** The widest offset in use is +14:00; java.time, which such gateways are written with, allows none beyond 18 hours. */
const WIDEST_OFFSET_MINUTES = 18 * 60;

/**
 * Reads a moment as the gateway writes it: `2023-03-18 12:34:52.0998 +0000`, `2025-02-27 14:12:34.430+02:00`, `…Z`
 * (interface description, "Session"). The fraction is read as a decimal one: if its four digits are padded milliseconds
 * after all, the result is at most a second early, which is the safe side. It is cut to whole milliseconds.
 * @returns undefined when the text is not such a moment, or names a day or time that does not exist (leap seconds
 * included)
 */
export function parseMoment(text: string): Instant | undefined {
  const match = MOMENT.exec(text);
  if (match === null) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as SixNumbers;
  const milliseconds = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const localMs = Date.UTC(year, month - 1, day, hour, minute, second, milliseconds);
  // Date.UTC rolls 30 February over into March, and reads the year 26 as 1926: the result must read like the input.
  if (new Date(localMs).toISOString().slice(0, 19) !== `${text.slice(0, 10)}T${text.slice(11, 19)}`) return undefined;
  const offset = offsetMinutes(match[8], match[9], match[10]);
  return offset === undefined ? undefined : instantFromEpochMs(localMs - offset * 60_000);
}

type SixNumbers = [number, number, number, number, number, number];

function offsetMinutes(sign: string | undefined, hours = '00', minutes = '00'): number | undefined {
  const offset = Number(hours) * 60 + Number(minutes);
  if (Number(minutes) > 59 || offset > WIDEST_OFFSET_MINUTES) return undefined;
  return sign === '-' ? -offset : offset;
}

/** The fields of an opened session that name an expiry, as received. */
interface ExpiryFields {
  readonly tokenExpirationDateTime?: unknown;
  readonly tokenExpiration?: unknown;
  readonly sessionExpiration?: unknown;
}

export type Expiry =
  | { readonly given: 'moment'; readonly expiresAt: Instant }
  | { readonly given: 'nothing' }
  | { readonly given: 'unreadable'; readonly field: string };

/**
 * The earliest of the given moments. A token expiry that is given but cannot be read makes the session unusable.
 * `sessionExpiration`, whose format is not documented anywhere, never does: if it cannot be read or is already past, it
 * counts as absent.
 * @param asOf the gateway's clock at the time of the answer, as far as it is known
 */
export function readExpiry(fields: ExpiryFields, asOf: Instant): Expiry {
  const moments: Instant[] = [];
  for (const field of ['tokenExpirationDateTime', 'tokenExpiration'] as const) {
    if (isAbsent(fields[field])) continue;
    const moment = momentOf(fields[field]);
    if (moment === undefined) return { given: 'unreadable', field };
    moments.push(moment);
  }
  const ofSession = momentOf(fields.sessionExpiration);
  if (ofSession !== undefined && ofSession > asOf) moments.push(ofSession);
  const [first, ...others] = moments;
  return first === undefined ? { given: 'nothing' } : { given: 'moment', expiresAt: earliest(first, ...others) };
}

/** Serialisers write a field that has no value as null. */
const isAbsent = (value: unknown): boolean => value === undefined || value === null;

const momentOf = (value: unknown): Instant | undefined => (typeof value === 'string' ? parseMoment(value) : undefined);
