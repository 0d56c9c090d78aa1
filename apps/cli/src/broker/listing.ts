import { BrokerError } from '#libs/errors';
import { type Classed, faultOfAnswer, faultOfSilence } from './ask-fault.js';
import type { BrokerPlace } from './broker-place.js';
import type { ListedMerchant } from './listed-merchant.js';
import { unlisted } from './unlisted.js';
import { type Call, callReplica, type ReplicaAnswer, type ReplicaPlace } from './replica-call.js';

type CallBounds = Pick<Call, 'clock' | 'signal' | 'limitMs'>;

/** What a replica says about its store, in its own terms. Brokers of version 0.1 say nothing. */
export interface SaidOfStore {
  readonly store?: string;
  /** Why it cannot be used. */
  readonly storeReason?: string;
}

/** As much of a replica's answer to `GET /v1/merchants` as is shown. */
export interface Listing extends SaidOfStore {
  readonly replica?: string;
  /** The merchants that the caller may see. */
  readonly merchants: readonly ListedMerchant[];
}

/** Undefined if the answer is not a list, such as a refusal. */
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

export const isListing = (said: Listing | Classed): said is Listing => 'merchants' in said;

/** The list, or why there is none. */
export async function listing(
  broker: BrokerPlace,
  place: ReplicaPlace,
  { clock, signal, limitMs }: CallBounds,
): Promise<Listing | Classed> {
  try {
    const bound = limitMs === undefined ? {} : { limitMs };
    const answer = await callReplica(broker, place, { method: 'GET', path: '/v1/merchants', clock, signal, ...bound });
    if ('problem' in answer) return { error: faultOfSilence(answer, place, broker), fault: answer.fault };
    return listingOf(answer) ?? faultOfAnswer(answer, place, broker);
  } catch (error) {
    // A fault of the token file is reported where the file is read first: here it is a reason like any other.
    if (!(error instanceof BrokerError)) throw error;
    const { code, message, publicDetail = message } = error;
    return { error: { code, message: publicDetail }, fault: 'invalidInput' };
  }
}

type WantedMerchant = CallBounds & { readonly merchant: string };

export const isListed = (said: ListedMerchant | Classed): said is ListedMerchant => 'id' in said;

/** A merchant as the replica lists it, or why the replica does not show it. */
export async function listedMerchant(
  broker: BrokerPlace,
  url: URL,
  { merchant, ...bounds }: WantedMerchant,
): Promise<ListedMerchant | Classed> {
  const listed = await listing(broker, { url }, bounds);
  if (!isListing(listed)) return listed;
  const names = listed.merchants.map(({ id }) => id);
  return listed.merchants.find(({ id }) => id === merchant) ?? unlisted(merchant, names);
}

/**
 * The same from all replicas at once: from the first one if it shows the merchant, or else from another that does;
 * otherwise why the first one does not.
 */
export async function listedAnywhere(
  broker: BrokerPlace,
  first: URL,
  wanted: WantedMerchant,
): Promise<ListedMerchant | Classed> {
  const others = broker.urls.filter((url) => url !== first);
  const ask = (url: URL): Promise<ListedMerchant | Classed> => listedMerchant(broker, url, wanted);
  const [told, ...found] = await Promise.all([ask(first), ...others.map(ask)]);
  return isListed(told) ? told : (found.find(isListed) ?? told);
}
