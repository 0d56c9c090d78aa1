import { isSecretName, isWholeLineSecret } from './secret-names.js';

export const REDACTED = '[redacted]';

/** Longer text is cut before it is searched, which bounds both the line and the work. */
export const MAX_TEXT_LENGTH = 4_096;

type Replacement = (match: string, name: string, rest: string) => string;
type Rule = readonly [pattern: RegExp, replacement: string | Replacement];

/*
 * Every pattern also matches when its end is missing, because the text may have been cut in the middle of a secret.
 * Each starts at a boundary or is bounded in length, so that no input makes them run in more than linear time.
 */
const PEM = /-----BEGIN[\s\S]*?(?:-----END[^-\n]{0,64}-----|$)/g;

/** RFC 9110 section 11.6.2: scheme and credentials. */
const CREDENTIALS: Rule = [/\b(Bearer|Basic|DPoP|Negotiate)\s+[^\s,;"']+/gi, `$1 ${REDACTED}`];

/** Compact JWS and JWE (RFC 7515, RFC 7516): the first part is the base64url of a JSON object, so `ey…` or `ew…`. */
const COMPACT_JOSE: Rule = [/eyJ[\w-]{6,}(?:\.[\w-]*){0,4}|(?<![\w-])e[wy][\w-]{10,}(?:\.[\w-]*){2,4}/g, REDACTED];

/** Five dotted parts with a long first one, whatever the first bytes of the header are. */
const FIVE_PARTS: Rule = [/(?<![\w.-])[\w-]{16,}(?:\.[\w-]*){4}/g, REDACTED];

/** The private part of a P-384 key is 64 base64url characters; a thumbprint (43) and a UUID (36) stay readable. */
const LONG_RUN: Rule = [/(?<![\w-])[\w-]{60,}/g, REDACTED];

const URL_TEXT: Rule = [
  /\b([a-z][a-z0-9+.-]{0,20}:\/\/)([^\s"'<>]*)/gi,
  (_match, scheme, rest) => scheme + bareUrl(scheme, rest),
];

const PATH_QUERY: Rule = [/(\/[^\s?"'<>]{0,256})\?[^\s"'<>]+/g, `$1?${REDACTED}`];

const QUOTED_NAME = /(\\{0,8}["'])([^"'\\]{1,256})\1\s*[:=]\s*/g;
/** The end of a nested value cannot be found without a parser, so everything after its start is removed. */
const QUOTED_VALUE =
  /"(?:[^"\\]|\\[\s\S])*(?:"|$)|'(?:[^'\\]|\\[\s\S])*(?:'|$)|\\+["'][\s\S]*?(?:\\+["'](?=\s*[,}\]])|$)|[[{][\s\S]*|[^\s,}\]]+/y;

const WHOLE_LINE: Rule = [
  /\b([\w-]{6,64})(\s*:[ \t]*)([^\n]+)/g,
  (match, name, separator) => (isWholeLineSecret(name) ? name + separator + REDACTED : match),
];

/** `name=value`, `name:value`, and `name: value` if the value is quoted or looks generated (it contains a digit). */
const BARE_PAIR: Rule = [
  /(?<![\w-])([a-z][\w-]{2,64})(=|:(?! )|: (?="|'|[^\s,;]{0,64}\d))("[^"]*"?|'[^']*'?|[^\s,;&"'{}[\]]+)/gi,
  (match, name, separator) => (isSecretName(name) ? name + separator + REDACTED : match),
];

const RULES: readonly Rule[] = [
  CREDENTIALS,
  URL_TEXT,
  PATH_QUERY,
  COMPACT_JOSE,
  FIVE_PARTS,
  LONG_RUN,
  WHOLE_LINE,
  BARE_PAIR,
];

/**
 * A URL without userinfo, query and fragment. A password may contain a bare `/`, so everything up to the last `@` is
 * removed; file URLs have none.
 */
function bareUrl(scheme: string, rest: string): string {
  const [location = ''] = rest.split(/[?#]/, 1);
  const cut = location.length < rest.length ? `?${REDACTED}` : '';
  if (scheme.toLowerCase() === 'file://') return location + cut;
  const queryHoldsAt = location.length < rest.length && !location.includes('/') && rest.includes('@');
  return (queryHoldsAt ? REDACTED : location.slice(location.lastIndexOf('@') + 1)) + cut;
}

/**
 * A text without anything that looks like a credential, a key, a JWE or a JWT, and with every URL stripped of userinfo
 * and query. This is the second safety net: a secret without a recognisable form (a UUID) is only caught by the name of
 * its key.
 */
export function redactText(text: string): string {
  const bounded = text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
  return RULES.reduce(
    (kept, [pattern, replacement]) =>
      typeof replacement === 'string' ? kept.replace(pattern, replacement) : kept.replace(pattern, replacement),
    withoutQuotedPairs(bounded.replace(PEM, REDACTED)),
  );
}

/** `"name": value` as in JSON, in JSON inside JSON, and as printed by Node's `inspect`. */
function withoutQuotedPairs(text: string): string {
  let kept = '';
  let keptUpTo = 0;
  for (const { index, 0: match, 2: name = '' } of text.matchAll(QUOTED_NAME)) {
    if (index < keptUpTo || !isSecretName(name)) continue;
    const valueAt = index + match.length;
    QUOTED_VALUE.lastIndex = valueAt;
    const value = QUOTED_VALUE.exec(text)?.[0] ?? '';
    kept += text.slice(keptUpTo, valueAt) + REDACTED;
    keptUpTo = valueAt + value.length;
  }
  return kept + text.slice(keptUpTo);
}
