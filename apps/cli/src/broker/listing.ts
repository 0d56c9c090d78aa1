import { BrokerError } from '#libs/errors';
import type { CommandContext } from '../terminal.js';
import type { BrokerPlace } from './broker-place.js';
import type { ListedMerchant } from './listed-merchant.js';
import { callReplica, type ReplicaAnswer, type ReplicaPlace } from './replica-call.js';

type CallBounds = Pick<CommandContext, 'clock' | 'signal'>;

/** What a replica says of its store, as it calls it. Brokers of 0.1 say nothing. */
export interface SaidOfStore {
  readonly store?: string;
  /** Why it cannot be used. */
  readonly storeReason?: string;
}

/** What a replica answers to `GET /v1/merchants`, as far as it is shown. */
export interface Listing extends SaidOfStore {
  readonly replica?: string;
  /** Those that the caller may see. */
  readonly merchants: readonly ListedMerchant[];
}

/** Undefined for an answer that is no list, such as a refusal. */
export function listingOf({ status, body }: ReplicaAnswer): Listing | undefined {
  const { merchants, replica, store, storeReason } = body;
  if (status !== 200 || !Array.isArray(merchants)) return undefined;
  return {
    ...(typeof replica === 'string' ? { replica } : {}),
    ...(typeof store === 'string' ? { store } : {}),
    ...(typeof storeReason === 'string' ? { storeReason } : {}),
    merchants: merchants as readonly ListedMerchant[],
  };
}

/** A text: why there is no answer; undefined: the answer is no list, or there is no token to ask with. */
export async function listing(
  broker: BrokerPlace,
  place: ReplicaPlace,
  { clock, signal }: CallBounds,
): Promise<Listing | string | undefined> {
  try {
    const answer = await callReplica(broker, place, { method: 'GET', path: '/v1/merchants', clock, signal });
    return 'problem' in answer ? answer.problem : listingOf(answer);
  } catch (error) {
    // The file of the token: whoever asks here adds to what is told already.
    if (!(error instanceof BrokerError)) throw error;
    return undefined;
  }
}

/** A merchant as the broker lists it; a text: why there is no answer; undefined: there is no list, or it is not in it. */
export async function listedMerchant(
  broker: BrokerPlace,
  place: ReplicaPlace,
  { merchant, ...bounds }: CallBounds & { readonly merchant: string },
): Promise<ListedMerchant | string | undefined> {
  const listed = await listing(broker, place, bounds);
  return typeof listed === 'string' ? listed : listed?.merchants.find(({ id }) => id === merchant);
}
