import { pemKindOf } from '#libs/jwe';

/** Contains nothing that is special to a shell. */
const PLAIN = /^[\w./@%+:,-]+$/;

const quoted = (name: string): string => (PLAIN.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`);

/**
 * What to do about a file that holds a PEM key where a JWK is required, with the command that converts it.
 * @param file its name, usable from any folder
 * @returns undefined for any other content
 */
export function pemRemedy(text: string, file: string): string | undefined {
  const kind = pemKindOf(text);
  if (kind === undefined) return undefined;
  const jwk = `${file.replace(/\.(?:pem|key|p8)$/i, '')}.jwk.json`;
  return `is a ${kind} key in PEM, but a JWK is required; convert it: session-broker keys convert ${quoted(file)} --out ${quoted(jwk)}`;
}
