import type { Clock } from '#libs/clock';
import type { JwtConfiguration } from '#libs/configuration';
import { type Fetched, fetchPublished, keysOf, type PublishedPlace } from '#libs/issuer';
import { SIGNATURE_ALGORITHMS, usableKeys, whatIsWrong } from '#libs/issuer';
import { type Check, fact, fault, type Finding, looked, type Verdict } from './check.js';

/** Two documents, each with the time that a broker allows for the one it fetches. */
const LIMIT_MS = 11_000;
const WELL_KNOWN = '/.well-known/openid-configuration';
/** Where every Kubernetes API server publishes its keys, whatever its issuer is called. */
const KEYS_OF_KUBERNETES = '/openid/v1/jwks';
/** The same rule as for the setting `auth.jwt.issuer`. */
const PRINTABLE = /^[\x21-\x7e]{1,512}$/;

/**
 * Whether the issuer's keys can be fetched the way the broker fetches them, and whether the issuer calls itself what is
 * configured: without either, no caller with a token of it is let in.
 */
export function issuerCheck(issuer: JwtConfiguration['issuer'], place: PublishedPlace, clock: Clock): Check {
  return {
    name: 'auth.jwks',
    limitMs: LIMIT_MS,
    run: async (signal): Promise<Verdict> => {
      const askedAtMs = clock.monotonicMs();
      const fetched = await fetchPublished(place, { clock, signal });
      const tookMs = Math.round(clock.monotonicMs() - askedAtMs);
      // Without the query, which some issuers want and nobody needs to see.
      const address = `${place.uri.origin}${place.uri.pathname}`;
      if (fetched.kind === 'ended') return { kind: 'not_run', reason: 'ended on request' };
      if (fetched.kind !== 'document') {
        const { problem, remedy, fault: kind } = whatIsWrong(fetched, place);
        return looked([fault(kind, problem, remedy)], { address });
      }
      const keys = keysOf(fetched.document);
      const usable = usableKeys(keys ?? []).length;
      const facts = { address, tookMs, keys: keys?.length ?? 0, usableKeys: usable };
      if (usable === 0) return looked([unusable(address, keys?.length)], facts);
      const told = fact(`keys of the issuer: ${usable} of ${facts.keys} usable, from ${address} after ${tookMs} ms`);
      const uri = discoveryAddress(issuer, place.uri);
      const named = uri && nameFinding(issuer, uri, await fetchPublished({ ...place, uri }, { clock, signal }));
      return looked([told, ...(named === undefined ? [] : [named])], facts);
    },
  };
}

function unusable(address: string, keys: number | undefined): Finding {
  const problem =
    keys === undefined
      ? `what ${address} answers is no JSON Web Key Set`
      : `none of the keys from ${address} can be used to check a token (keys: ${keys})`;
  const remedy = `auth.jwt.jwksUri has to lead to public keys for signatures (${SIGNATURE_ALGORITHMS.join(', ')})`;
  return fault('invalidAnswer', problem, remedy);
}

/**
 * Where the issuer says what it calls itself (OpenID Connect Discovery 1.0, section 4), but only if that is certain to
 * be the party that publishes the keys: on the same host, under the issuer's name or next to the keys of Kubernetes. No
 * token goes to another host.
 */
export function discoveryAddress(issuer: string, keys: URL): URL | undefined {
  const address = new URL(keys);
  address.search = '';
  if (keys.pathname.endsWith(KEYS_OF_KUBERNETES)) {
    address.pathname = `${keys.pathname.slice(0, -KEYS_OF_KUBERNETES.length)}${WELL_KNOWN}`;
    return address;
  }
  const named = URL.parse(issuer);
  if (named?.origin !== keys.origin) return undefined;
  address.pathname = `${named.pathname.replace(/\/$/, '')}${WELL_KNOWN}`;
  return address;
}

/** Tokens with any name but the configured one are all refused. */
function nameFinding(issuer: string, { href }: URL, fetched: Fetched): Finding {
  const { issuer: named }: { readonly issuer?: unknown } = fetched.kind === 'document' ? fetched.document : {};
  if (typeof named !== 'string' || !PRINTABLE.test(named))
    return fact(`${href} does not say what the issuer calls itself`);
  if (named === issuer) return fact(`the issuer calls itself ${named}, as configured`);
  return fault(
    'invalidInput',
    `the issuer calls itself ${named}, but auth.jwt.issuer is ${issuer}: its tokens are refused`,
    'set auth.jwt.issuer to what the issuer calls itself, character by character',
  );
}
