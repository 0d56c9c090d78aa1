import type { Clock } from '#libs/clock';
import type { JwtConfiguration } from '#libs/configuration';
import {
  type Fetched,
  fetchPublished,
  keysOf,
  type PublishedPlace,
  SIGNATURE_ALGORITHMS,
  usableKeys,
  whatIsWrong,
} from '#libs/issuer';
import { type Check, fact, fault, type Finding, looked, notApplicable, type Verdict } from '../check.js';
import { discoveryAddress, issuerFinding } from '../issuer-discovery.js';

type Jwt = Pick<JwtConfiguration, 'issuer' | 'keys'>;

/** Two documents, each with the time that a broker allows for the one it fetches. */
const LIMIT_MS = 11_000;

/**
 * Whether the issuer's keys can be fetched the way the broker fetches them: without them, no caller with a token from
 * this issuer is let in.
 */
export function authJwksCheck(jwt: Jwt | undefined, clock: Clock): Check {
  return {
    name: 'auth.jwks',
    needs: ['configuration'],
    limitMs: LIMIT_MS,
    run: async (signal): Promise<Verdict> => {
      if (jwt === undefined) return notApplicable('no callers with tokens of an issuer are configured');
      const { keys: place, issuer } = jwt;
      if (place.kind === 'set') return notApplicable('the keys of the issuer are in a file');
      const askedAtMs = clock.monotonicMs();
      const fetched = await fetchPublished(place, { clock, signal });
      const tookMs = Math.round(clock.monotonicMs() - askedAtMs);
      if (fetched.kind !== 'document') return withoutDocument(fetched, place);
      const found = judged(fetched.document, place, tookMs);
      const address = discoveryAddress(issuer, place.uri);
      if (address === undefined) return looked(found.findings, found.facts);
      const discovery = { ...place, uri: address };
      const told = issuerFinding(issuer, discovery, await fetchPublished(discovery, { clock, signal }));
      return looked([...found.findings, told], found.facts);
    },
  };
}

function withoutDocument(failure: Exclude<Fetched, { kind: 'document' }>, place: PublishedPlace): Verdict {
  if (failure.kind === 'ended') return { kind: 'not_run', reason: 'ended on request' };
  const { problem, remedy, fault: kind } = whatIsWrong(failure, place);
  return looked([fault(kind, problem, remedy)], { address: addressOf(place) });
}

interface Judged {
  readonly findings: readonly Finding[];
  readonly facts: object;
}

function judged(document: object, place: PublishedPlace, tookMs: number): Judged {
  const address = addressOf(place);
  const keys = keysOf(document);
  const usable = keys === undefined ? [] : usableKeys(keys);
  const facts = { address, tookMs, keys: keys?.length ?? 0, usableKeys: usable.length };
  if (usable.length > 0) {
    const others = facts.keys - usable.length;
    const told = fact(`keys of the issuer: ${usable.length}, from ${address} after ${tookMs} ms`);
    const left = fact(`keys that no token can be checked with, and which are left out: ${others}`);
    return { findings: others === 0 ? [told] : [told, left], facts };
  }
  const problem =
    keys === undefined
      ? `what ${address} answers is no JSON Web Key Set`
      : `none of the keys from ${address} can be used to check a token (keys: ${keys.length})`;
  const remedy = `auth.jwt.jwksUri has to lead to public keys for signatures (${SIGNATURE_ALGORITHMS.join(', ')})`;
  return { findings: [fault('invalidAnswer', problem, remedy)], facts };
}

/** Without the query, which some issuers want and nobody needs to see. */
const addressOf = ({ uri }: PublishedPlace): string => `${uri.origin}${uri.pathname}`;
