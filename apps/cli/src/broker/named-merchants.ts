import { meantOr } from '../chosen-merchant.js';
import type { BrokerPlace } from './broker-place.js';
import { listing } from './listing.js';
import type { ReplicaPlace } from './replica-call.js';
import type { CommandContext } from '../terminal.js';

/** What a broker says of a merchant that it does not have, and of one that the caller may do nothing with. */
const NOT_KNOWN = new Set(['merchant_not_found', 'forbidden']);

interface Refused {
  readonly merchant: string;
  /** The broker's own, of its refusal. */
  readonly code: string | undefined;
}

/**
 * Why a broker refuses a merchant by its name: whether it is one that the caller may see, and which those are. It answers
 * alike for a merchant that is not there and for one that is not the caller's, so only its list can tell.
 * @returns undefined when the name is one that the caller may see, or is not the matter
 */
export async function nameFault(
  broker: BrokerPlace,
  place: ReplicaPlace,
  { merchant, code = '', clock, signal }: Refused & Pick<CommandContext, 'clock' | 'signal'>,
): Promise<string | undefined> {
  if (!NOT_KNOWN.has(code)) return undefined;
  const listed = await listing(broker, place, { clock, signal });
  const names = typeof listed === 'string' ? [] : (listed?.merchants ?? []).map(({ id }) => id);
  if (names.includes(merchant)) return undefined;
  const what =
    code === 'merchant_not_found'
      ? `there is no merchant ${merchant}`
      : `there is no merchant ${merchant}, or this caller may not see it`;
  return `${what}; ${names.length === 0 ? 'it may see none at all' : meantOr('it may see', merchant, names)}`;
}
