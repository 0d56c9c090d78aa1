import { isIP } from 'node:net';
import { isTimeZone, parseDurationMs, parseTimeOfDayMs } from '#libs/clock';
import type { TokenUse } from '#libs/pkcs11';
import type { LeadTime } from '#libs/session';

/** What a text setting must look like. */
export interface TextRule<T = string> {
  /** Completes the sentence "must be …", and never depends on the value. */
  readonly expects: string;
  /** @returns what the program works with; undefined if the text is not accepted */
  readonly read: (text: string) => T | undefined;
  /** The rule for the content of the file, if the text is a file name. */
  readonly content?: ContentRule<unknown>;
}

/** What a file must hold, and what the program works with instead of its name. */
export interface ContentRule<Content> {
  /** `secret`: nobody else should read it. */
  readonly kind: 'secret' | 'certificates' | 'public';
  readonly maxBytes: number;
  readonly read: (text: string, file: string, tokens: TokenUse) => Promise<Fit<Content>> | Fit<Content>;
  /** For a file that is read at each use and may appear later: what does not work until it exists. */
  readonly without?: string;
}

/** `problem` is read after the path of the setting, and never quotes the file: it may be a secret in the wrong place. */
export type Fit<Content> = { readonly content: Content } | { readonly problem: string };

declare const content: unique symbol;

/** The name of a file with such content. */
export type FileName<Content> = string & { readonly [content]: Content };

/** A setting's value, if it is a single one. */
export type Single = string | number | boolean | URL | LeadTime;

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

export function accepted(expects: string, accepts: (text: string) => boolean): TextRule {
  return { expects, read: (text) => (accepts(text) ? text : undefined) };
}

export function matching(pattern: RegExp, expects: string): TextRule {
  return accepted(expects, (text) => pattern.test(text));
}

export function oneWordOf<Word extends string>(words: readonly Word[]): TextRule<Word> {
  return { expects: `one of ${words.join(', ')}`, read: (text) => words.find((word) => word === text) };
}

/** What merchant ids look like, as the source of a regular expression. */
export const MERCHANT_ID = '^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$';
export const merchantId = matching(new RegExp(MERCHANT_ID), '1 to 63 lower-case letters, digits and inner hyphens');
export const uuid = matching(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'a UUID, as the bank assigned it');
export const serviceCodeAlias = { ...uuid, expects: 'a UUID, made for this client alone' };
export const callerName = matching(/^[\w.:/@-]{1,128}$/, '1 to 128 letters, digits and . _ : / @ -');
/** A label of metrics; labels that do not stand for a client begin with `_`. */
export const clientName = matching(
  /^[A-Za-z0-9][\w.:/@-]{0,63}$/,
  '1 to 64 letters, digits and . _ : / @ -, beginning with a letter or digit',
);
export const keyPrefix = matching(/^[\w.:-]{1,64}$/, '1 to 64 letters, digits and . _ : -');
export const sentinelName = matching(/^[\w.-]{1,64}$/, '1 to 64 letters, digits and . _ -');
export const userName = matching(/^[\x21-\x7e]{1,128}$/, '1 to 128 printable characters without spaces');
export const fileName = matching(/^[^\0\n\r]{1,1024}$/, 'the path of a file');
export const absolutePath = matching(/^\/[^\0\n\r]{0,1023}$/, 'the absolute path of a file');
/** RFC 7469 section 2.4 without its quotes: 32 bytes in canonical base64, whose last character has two spare bits. */
export const publicKeyPin = matching(
  /^sha256\/[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/,
  'sha256/ followed by the base64 of the SHA-256 of a public key (44 characters)',
);
/** A field name of RFC 9110 section 5.1 or a JSON member that needs no escaping. */
export const attachmentName = matching(/^[A-Za-z0-9][\w-]{0,63}$/, '1 to 64 letters, digits, _ and -');
export const memberName = matching(/^[A-Za-z_][\w-]{0,63}$/, '1 to 64 letters, digits, _ and -, as in the body');
/** With hyphens in place of underscores: servers take either. */
const NEVER_PASSED: ReadonlySet<string> = new Set([
  ...['x-api-version', 'x-device-id', 'x-refresh-token', 'authorization', 'cookie', 'host', 'expect'],
  ...['content-encoding', 'content-length', 'content-type', 'transfer-encoding', 'trailer', 'te', 'upgrade'],
  ...['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection'],
]);
export const passedHeader = accepted(
  'the name of a header in small letters, none of a session, a credential, a connection or the length and coding of a body',
  (text) => /^[a-z][a-z0-9_-]{0,63}$/.test(text) && !NEVER_PASSED.has(text.replaceAll('_', '-')),
);
const inTheTokens = 'printable characters without spaces, as in the tokens';
/** Compared with the `iss` of a token character by character; by convention a URL. */
export const issuer = matching(/^[\x21-\x7e]{1,512}$/, `1 to 512 ${inTheTokens}`);
export const audience = matching(/^[\x21-\x7e]{1,256}$/, `1 to 256 ${inTheTokens}`);
/** With or without `application/`, as in RFC 7515 section 4.1.9. */
export const mediaType = matching(
  /^(?:application\/)?[A-Za-z0-9][\w.+-]{0,63}$/,
  "a type of token, such as 'at+jwt' or 'application/at+jwt'",
);
export const timeOfDay = accepted(
  'a time of day from 00:00 to 23:59, in quotes',
  (text) => parseTimeOfDayMs(text) !== undefined,
);
export const timeZone = accepted('the name of a time zone, such as Europe/Kyiv (IANA)', isTimeZone);

/** Whether a caller name from outside is one that a policy could have. */
export function isCallerName(text: string): boolean {
  return callerName.read(text) !== undefined;
}

const SHA256_OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
/** Lower or upper case. The hash of the empty text would let in a caller who presents no token. */
export const sha256Hex: TextRule = {
  expects: 'the SHA-256 of a token as 64 hexadecimal digits (not of an empty one): printf %s "$TOKEN" | sha256sum',
  read: (text) => {
    const hash = text.toLowerCase();
    return /^[0-9a-f]{64}$/.test(hash) && hash !== SHA256_OF_NOTHING ? hash : undefined;
  },
};

const HOST_LABEL = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const isHost = (text: string): boolean =>
  isIP(text) !== 0 || (text.length <= 253 && text.split('.').every((label) => HOST_LABEL.test(label)));
export const hostName = accepted('a host name or an IP address, without a port', isHost);

/** The port must be given: 6379, 26379 and 7000 are all common. */
export const hostAndPort: TextRule<HostAndPort> = {
  expects: 'host:port, such as redis-0.redis:26379',
  read: (text) => {
    const found = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
    const [host, port] = [found[1] ?? found[2] ?? '', Number(found[3])];
    return isHost(host) && port >= 1 && port <= 65_535 ? { host, port } : undefined;
  },
};

/** `redis://[user[:password]@]host[:port][/database]`, `rediss://` for TLS. */
export const redisUrl = accepted(
  'a URL such as redis://host:6379/0, or rediss:// for TLS, without query or fragment',
  (text) => {
    const url = /^rediss?:\/\/[^\s\\?#]+$/.test(text) ? URL.parse(text) : null;
    return url !== null && url.hostname !== '' && /^(?:\/\d{0,4})?$/.test(url.pathname);
  },
);

function httpUrl(expects: string, isRight: (url: URL, text: string) => boolean): TextRule<URL> {
  const read = (text: string): URL | undefined => {
    const url = /^https?:\/\/[^\s/\\][^\s\\]*$/i.test(text) ? URL.parse(text) : null;
    return url !== null && isRight(url, text) ? url : undefined;
  };
  return { expects, read };
}

// An empty user, query or fragment vanishes when the URL is parsed, so the text is searched for their delimiters.
const hasUser = (text: string): boolean => /^https?:\/\/[^/]*@/i.test(text);
export const baseUrl = httpUrl(
  'an http or https URL without user, query or fragment',
  (_url, text) => !/[?#]/.test(text) && !hasUser(text),
);
/** Anybody who can change the keys in transit can pose as any caller: http is for this machine only. */
export const jwksUri = httpUrl(
  'an https URL without user or fragment (http only on a loopback address)',
  (url, text) => !text.includes('#') && !hasUser(text) && (url.protocol === 'https:' || isLoopbackUrl(url)),
);
export const proxyUrl = httpUrl(
  'an http or https URL of a proxy, without path or query',
  ({ pathname, search, hash }) => pathname + search + hash === '/',
);

/** Only names and addresses that can mean nothing but this machine: how a resolver answers for others is not known. */
export function isLoopback(host: string): boolean {
  return isIP(host) === 4 ? host.startsWith('127.') : host === '::1' || host.toLowerCase() === 'localhost';
}

export function isLoopbackUrl({ hostname }: Pick<URL, 'hostname'>): boolean {
  return hostname === '[::1]' || isLoopback(hostname);
}

/** Both ends are part of the range. */
export function durationBetween(min: string, max: string): TextRule<number> {
  const [minMs = NaN, maxMs = NaN] = [min, max].map(parseDurationMs);
  return {
    expects: `a duration from ${min} to ${max}, such as 90s, 15m or 2h`,
    read: (text) => [parseDurationMs(text)].find((ms = NaN) => ms >= minMs && ms <= maxMs),
  };
}

/** More than half of a lifetime would renew twice as often as anyone needs, and each create call can break payments. */
const MAX_SHARE = 0.5;

export const leadTime: TextRule<LeadTime> = {
  expects: `a duration such as 90s, or a percentage of the lifetime above 0% and at most ${MAX_SHARE * 100}%`,
  read: (text) => {
    const percentage = /^(\d{1,3}(?:\.\d{1,4})?)%$/.exec(text)?.[1];
    if (percentage === undefined) {
      const ms = parseDurationMs(text) ?? 0;
      return ms > 0 ? { kind: 'duration', durationMs: ms } : undefined;
    }
    const share = Number(percentage) / 100;
    return share > 0 && share <= MAX_SHARE ? { kind: 'share', share } : undefined;
  },
};

const MAX_PATH_LENGTH = 512;
/**
 * RFC 3986 `pchar` without escapes and without `*`: a path that needs more can be written in two ways, or is a trap.
 */
const LITERAL_PART = /^(?!\.{1,2}$)[\w.~!$&'()+,;=:@-]+$/;
const ONE = '*';
const REST = '**';

/** `/ecom/execute_request/hpp/**`: `*` is exactly one part of a path, `**` at its end is one or more. */
export const routePath = accepted(
  'a path such as /ecom/execute_request/**: parts of letters, digits and -._~ after each /, none empty, . or .., ' +
    'without escapes and query; * for exactly one part, ** only as the last part',
  (text) =>
    text.startsWith('/') &&
    text.length <= MAX_PATH_LENGTH &&
    text
      .slice(1)
      .split('/')
      .every(
        (part, index, { length }) => part === ONE || (part === REST ? index === length - 1 : LITERAL_PART.test(part)),
      ),
);

/**
 * As written in a URL: an IPv6 address is in brackets, since its last group could otherwise be mistaken for the port.
 */
export function writtenAddress({ host, port }: { readonly host: string; readonly port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
