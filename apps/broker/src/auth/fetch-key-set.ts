import type { Clock } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { fetchPublished, type PublishedPlace, whatIsWrong } from '#libs/issuer';

/**
 * Fetches a JSON Web Key Set.
 * @throws BrokerError `authentication_unavailable`, whose detail says what is wrong and what to do, and nothing about
 *   the token
 */
export async function fetchKeySet(place: PublishedPlace, clock: Clock): Promise<object> {
  const fetched = await fetchPublished(place, { clock });
  if (fetched.kind === 'document') return fetched.document;
  const { problem, remedy } = whatIsWrong(fetched, place);
  throw new BrokerError('authentication_unavailable', { detail: `the key set did not come: ${problem}; ${remedy}` });
}
