import { pemKindOf } from '#libs/jwe';

/** Nothing in it means anything to a shell. */
const PLAIN = /^[\w./@%+:,-]+$/;

const quoted = (name: string): string => (PLAIN.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`);

/**
 * What to do about a file that holds a key in PEM where a JWK is due, with the command that converts it.
 * @param file its name, from anywhere
 * @returns undefined for any other content
 */
export function pemRemedy(text: string, file: string): string | undefined {
  const kind = pemKindOf(text);
  if (kind === undefined) return undefined;
  const jwk = `${file.replace(/\.(?:pem|key|p8)$/i, '')}.jwk.json`;
  return `is a ${kind} key in PEM, and a JWK is due; convert it: session-broker keys convert ${quoted(file)} --out ${quoted(jwk)}`;
}
