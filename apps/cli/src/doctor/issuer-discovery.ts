import { type Fetched, type PublishedPlace, whatIsWrong } from '#libs/issuer';
import { fact, fault, type Finding } from './check.js';

const WELL_KNOWN = '/.well-known/openid-configuration';
/** Where every Kubernetes API server publishes its keys, whatever its issuer is called. */
const KEYS_OF_KUBERNETES = '/openid/v1/jwks';
/** The same rule as for the setting `auth.jwt.issuer`. */
const PRINTABLE = /^[\x21-\x7e]{1,512}$/;

/**
 * Where the issuer says what it calls itself (OpenID Connect Discovery 1.0, section 4), but only if that is certain to
 * be the party that publishes the keys: on the same host, under the issuer's name or next to the keys of Kubernetes. No
 * token goes to another host.
 */
export function discoveryAddress(issuer: string, keys: URL): URL | undefined {
  if (keys.pathname.endsWith(KEYS_OF_KUBERNETES)) {
    return discoveryAt(keys, keys.pathname.slice(0, -KEYS_OF_KUBERNETES.length));
  }
  if (!URL.canParse(issuer)) return undefined;
  const { origin, pathname } = new URL(issuer);
  return origin === keys.origin ? discoveryAt(keys, pathname.replace(/\/$/, '')) : undefined;
}

function discoveryAt(host: URL, path: string): URL {
  const address = new URL(host);
  address.pathname = `${path}${WELL_KNOWN}`;
  address.search = '';
  return address;
}

/**
 * Whether the issuer calls itself what is configured: tokens with any other name are all refused, and nobody is told
 * why.
 */
export function issuerFinding(issuer: string, place: PublishedPlace, fetched: Fetched): Finding {
  const { href } = place.uri;
  if (fetched.kind !== 'document') {
    return fact(
      `what the issuer calls itself could not be looked up at ${href}: ${whatIsWrong(fetched, place).problem}`,
    );
  }
  const { issuer: named }: { readonly issuer?: unknown } = fetched.document;
  if (typeof named !== 'string' || !PRINTABLE.test(named)) {
    return fact(`what the issuer calls itself could not be looked up: ${href} does not say`);
  }
  if (named === issuer) return fact(`the issuer calls itself ${named}, as configured`);
  return fault(
    'invalidInput',
    `the issuer calls itself ${named}, and auth.jwt.issuer is ${issuer}: its tokens are refused`,
    'set auth.jwt.issuer to what the issuer calls itself, character by character',
  );
}
