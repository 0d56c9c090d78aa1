import { isIP } from 'node:net';
import { isTimeZone, parseDurationMs, parseTimeOfDayMs } from '#libs/clock';
import type { LeadTime } from '#libs/session';

/** What a text setting must look like. `expects` completes the sentence "must be …" and never depends on the value. */
export interface TextRule<T = string> {
  readonly expects: string;
  readonly accepts: (text: string) => boolean;
  /** Converts an accepted text into what the program works with. */
  readonly convert?: (text: string) => T;
  /** The rule for the content of the file, if the text is a file name. */
  readonly content?: ContentRule<unknown>;
}

/** What a file must hold, and what the program works with instead of its name. */
export interface ContentRule<Content> {
  /** `secret`: nobody else should read it. */
  readonly kind: 'secret' | 'certificates' | 'public';
  readonly maxBytes: number;
  /** Absent: only the absolute path is needed, because the content changes and is read at each use. */
  readonly read?: (text: string, file: string) => Promise<Fit<Content>> | Fit<Content>;
  /** For a file without `read`, which may appear later: what does not work until it exists. */
  readonly without?: string;
  /**
   * For a file without `read`: why its current content will not do, to be read after the path of the setting; undefined
   * if it will.
   */
  readonly judge?: (text: string) => string | undefined;
}

/**
 * `problem` is read after the path of the setting, and never quotes the file: any file may be a secret in the wrong
 * place.
 */
export type Fit<Content> = { readonly content: Content } | { readonly problem: string };

/** A setting's value, if it is a single one. */
export type Single = string | number | boolean | URL | LeadTime;

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

export function matching(pattern: RegExp, expects: string): TextRule {
  return { expects, accepts: (text) => pattern.test(text) };
}

export function oneWordOf<Word extends string>(words: readonly Word[]): TextRule<Word> {
  return { expects: `one of ${words.join(', ')}`, accepts: (text) => words.some((word) => word === text) };
}

const HOST_LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

export const hostName: TextRule = {
  expects: 'a host name or an IP address, without a port',
  accepts: (text) =>
    isIP(text) !== 0 || (text.length <= 253 && text.split('.').every((label) => HOST_LABEL.test(label))),
};

export const uuid = matching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'a UUID, as the bank assigned it');

export const serviceCodeAlias: TextRule = { ...uuid, expects: 'a UUID, made for this client alone' };

/** What merchant ids look like, as the source of a regular expression. */
export const MERCHANT_ID = '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$';

export const merchantId = matching(new RegExp(MERCHANT_ID), '1 to 63 lower-case letters, digits and inner hyphens');

/** Whether a caller name from outside is one that a policy could have. */
export function isCallerName(text: string): boolean {
  return callerName.accepts(text);
}

export const callerName = matching(/^[\w.:/@-]{1,128}$/, '1 to 128 letters, digits and . _ : / @ -');

/** A label of metrics; labels that do not stand for a client begin with `_`. */
export const clientName = matching(
  /^[A-Za-z0-9][\w.:/@-]{0,63}$/,
  '1 to 64 letters, digits and . _ : / @ -, beginning with a letter or digit',
);

export const keyPrefix = matching(/^[\w.:-]{1,64}$/, '1 to 64 letters, digits and . _ : -');

/** `redis://[user[:password]@]host[:port][/database]`, `rediss://` for TLS. */
export const redisUrl: TextRule = {
  expects: 'a URL such as redis://host:6379/0, or rediss:// for TLS, without query or fragment',
  accepts: (text) => {
    const url = /^rediss?:\/\/[^\s\\]+$/.test(text) ? URL.parse(text) : null;
    return url !== null && url.hostname !== '' && /^(?:\/\d{0,4})?$/.test(url.pathname) && !/[?#]/.test(text);
  },
};

/** The port must be given: 6379, 26379 and 7000 are all common. */
export const hostAndPort: TextRule<HostAndPort> = {
  expects: 'host:port, such as redis-0.redis:26379',
  accepts: (text) => {
    const { host, port } = partsOfPlace(text);
    return hostName.accepts(host) && port >= 1 && port <= 65_535;
  },
  convert: partsOfPlace,
};

function partsOfPlace(text: string): HostAndPort {
  const { v6, host = '', port } = /^(?:\[(?<v6>[^\]]+)\]|(?<host>[^:]+)):(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  return { host: v6 ?? host, port: Number(port) };
}

export const sentinelName = matching(/^[\w.-]{1,64}$/, '1 to 64 letters, digits and . _ -');

export const userName = matching(/^[\x21-\x7e]{1,128}$/, '1 to 128 printable characters without spaces');

export const fileName = matching(/^[^\0\n\r]{1,1024}$/, 'the path of a file');

/** Lower or upper case. The hash of the empty text would let in a caller who presents no token. */
export const sha256Hex: TextRule = {
  expects: 'the SHA-256 of a token as 64 hexadecimal digits (not of an empty one)',
  accepts: (text) => /^[0-9a-f]{64}$/i.test(text) && text.toLowerCase() !== SHA256_OF_NOTHING,
  convert: (text) => text.toLowerCase(),
};
const SHA256_OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** RFC 7469 section 2.4 without its quotes: 32 bytes in canonical base64, whose last character has two spare bits. */
export const publicKeyPin = matching(
  /^sha256\/[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/,
  'sha256/ followed by the base64 of the SHA-256 of a public key (44 characters)',
);

/** A field name of RFC 9110 section 5.1 or a JSON member that needs no escaping. */
export const attachmentName = matching(/^[A-Za-z0-9][\w-]{0,63}$/, '1 to 64 letters, digits, _ and -');

export const memberName = matching(/^[A-Za-z_][\w-]{0,63}$/, '1 to 64 letters, digits, _ and -, as in the body');

export const baseUrl: TextRule<URL> = {
  expects: 'an http or https URL without user, query or fragment',
  // An empty user, query or fragment vanishes when the URL is parsed, so the text is searched for their delimiters.
  accepts: (text) => httpUrl(text) !== undefined && !/[?#]/.test(text) && !/^https?:\/\/[^/]*@/i.test(text),
  convert: toUrl,
};

/** Compared with the `iss` of a token character by character; by convention a URL. */
export const issuer = matching(
  /^[\x21-\x7e]{1,512}$/,
  '1 to 512 printable characters without spaces, as in the tokens',
);

export const audience = matching(
  /^[\x21-\x7e]{1,256}$/,
  '1 to 256 printable characters without spaces, as in the tokens',
);

/** With or without `application/`, as in RFC 7515 section 4.1.9. */
export const mediaType = matching(
  /^(?:application\/)?[A-Za-z0-9][\w.+-]{0,63}$/,
  "a type of token, such as 'at+jwt' or 'application/at+jwt'",
);

/** Anybody who can change the keys in transit can pose as any caller: http is for this machine only. */
export const jwksUri: TextRule<URL> = {
  expects: 'an https URL without user or fragment (http only on a loopback address)',
  accepts: (text) => {
    const url = httpUrl(text);
    if (url === undefined || /#/.test(text) || /^https?:\/\/[^/]*@/i.test(text)) return false;
    return url.protocol === 'https:' || isLoopbackUrl(url);
  },
  convert: toUrl,
};

/** Only names and addresses that can mean nothing but this machine: how a resolver answers for others is not known. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith('127.');
  return host === '::1' || host.toLowerCase() === 'localhost';
}

export function isLoopbackUrl({ hostname }: Pick<URL, 'hostname'>): boolean {
  return hostname === '[::1]' || isLoopback(hostname);
}

export const proxyUrl: TextRule<URL> = {
  expects: 'an http or https URL of a proxy, without path or query',
  accepts: (text) => {
    const url = httpUrl(text);
    return url !== undefined && url.pathname + url.search + url.hash === '/';
  },
  convert: toUrl,
};

function toUrl(text: string): URL {
  return new URL(text);
}

function httpUrl(text: string): URL | undefined {
  if (!/^https?:\/\/[^\s/\\]/i.test(text) || /[\s\\]/.test(text)) return undefined;
  return URL.parse(text) ?? undefined;
}

function durationMs(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === undefined) throw new TypeError(`no duration: ${text}`);
  return ms;
}

/** Both ends are part of the range. */
export function durationBetween(min: string, max: string): TextRule<number> {
  const [minMs, maxMs] = [durationMs(min), durationMs(max)];
  const accepts = (text: string): boolean => {
    const ms = parseDurationMs(text);
    return ms !== undefined && ms >= minMs && ms <= maxMs;
  };
  return {
    expects: `a duration from ${min} to ${max}, such as 90s, 15m or 2h`,
    accepts,
    convert: durationMs,
  };
}

export const timeOfDay: TextRule = {
  expects: 'a time of day from 00:00 to 23:59, in quotes',
  accepts: (text) => parseTimeOfDayMs(text) !== undefined,
};

export const timeZone: TextRule = {
  expects: 'the name of a time zone, such as Europe/Kyiv (IANA)',
  accepts: isTimeZone,
};

/** More than half of a lifetime would renew twice as often as anyone needs, and each create call can break payments. */
const MAX_SHARE = 0.5;

export const leadTime: TextRule<LeadTime> = {
  expects: `a duration such as 90s, or a percentage of the lifetime above 0% and at most ${MAX_SHARE * 100}%`,
  accepts: (text) => parseLeadTime(text) !== undefined,
  convert: (text) => {
    const lead = parseLeadTime(text);
    if (lead === undefined) throw new TypeError(`no lead time: ${text}`);
    return lead;
  },
};

/** Parses `20%` or `90s`; undefined if it is neither, is zero, or is more than half of the lifetime. */
function parseLeadTime(text: string): LeadTime | undefined {
  const percentage = /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(text)?.[1];
  if (percentage !== undefined) {
    const share = Number(percentage) / 100;
    return share > 0 && share <= MAX_SHARE ? { kind: 'share', share } : undefined;
  }
  const ms = parseDurationMs(text);
  return ms !== undefined && ms > 0 ? { kind: 'duration', durationMs: ms } : undefined;
}
