import type { ExitClass } from '../exit-codes.js';
import type { BrokerPlace } from './broker-place.js';
import { isListing, listing } from './listing.js';
import { seenText } from './unlisted.js';
import type { ReplicaPlace } from './replica-call.js';
import type { CommandContext } from '../terminal.js';

/** What a broker says about a merchant that it does not have, and about one that the caller may do nothing with. */
const NOT_KNOWN = new Set(['merchant_not_found', 'forbidden']);

interface Refused {
  readonly merchant: string;
  /** The broker's own code for its refusal. */
  readonly code: string | undefined;
}

export interface NameFault {
  readonly problem: string;
  /** If the caller may see no merchant, the access is at fault, whatever the name. */
  readonly fault: Extract<ExitClass, 'invalidInput' | 'refused'>;
  /** Whether the caller may read no merchant at all. */
  readonly isBlind: boolean;
}

/**
 * Why a broker refuses a merchant by its name: whether the caller may see such a merchant, and which ones it may see. A
 * broker answers alike for a merchant that does not exist and for one that is not the caller's, so only its list can
 * tell; if several replicas refuse it, the lists of all of them.
 * @returns undefined if the caller may see a merchant of that name, or if the name is not the problem
 */
export async function nameFault(
  broker: BrokerPlace,
  places: readonly ReplicaPlace[],
  { merchant, code = '', clock, signal }: Refused & Pick<CommandContext, 'clock' | 'signal'>,
): Promise<NameFault | undefined> {
  if (!NOT_KNOWN.has(code)) return undefined;
  const names = await namesAt(broker, places, { clock, signal });
  if (names?.includes(merchant) === true) return undefined;
  const isMissing = code === 'merchant_not_found';
  const what = `there is no merchant ${merchant}${isMissing ? '' : ', or this caller may not see it'}`;
  const they = `${isMissing ? 'this caller' : 'it'} may see`;
  return {
    problem: [what, ...seenText(they, merchant, names)].join('; '),
    fault: isMissing || (names !== undefined && names.length > 0) ? 'invalidInput' : 'refused',
    isBlind: names?.length === 0,
  };
}

/** In the order of the replicas; undefined if none of them has a list. */
async function namesAt(
  broker: BrokerPlace,
  places: readonly ReplicaPlace[],
  bounds: Pick<CommandContext, 'clock' | 'signal'>,
): Promise<readonly string[] | undefined> {
  const listed = await Promise.all(places.map((place) => listing(broker, place, bounds)));
  const lists = listed.filter(isListing);
  if (lists.length === 0) return undefined;
  return [...new Set(lists.flatMap(({ merchants }) => merchants.map(({ id }) => id)))];
}
