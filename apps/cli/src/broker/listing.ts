import { BrokerError } from '#libs/errors';
import { faultOfAnswer } from './ask-fault.js';
import type { BrokerPlace } from './broker-place.js';
import type { ListedMerchant } from './listed-merchant.js';
import { unlistedText } from './unlisted.js';
import { type Call, callReplica, type ReplicaAnswer, type ReplicaPlace } from './replica-call.js';

type CallBounds = Pick<Call, 'clock' | 'signal' | 'limitMs'>;

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

/** A text: why there is no list. */
export async function listing(
  broker: BrokerPlace,
  place: ReplicaPlace,
  { clock, signal, limitMs }: CallBounds,
): Promise<Listing | string> {
  try {
    const bound = limitMs === undefined ? {} : { limitMs };
    const answer = await callReplica(broker, place, { method: 'GET', path: '/v1/merchants', clock, signal, ...bound });
    if ('problem' in answer) return answer.problem;
    return listingOf(answer) ?? faultOfAnswer(answer, place, broker).error.message;
  } catch (error) {
    // What is wrong with the file of the token is told where it is read first: here it is a reason like any other.
    if (!(error instanceof BrokerError)) throw error;
    return error.publicDetail ?? error.message;
  }
}

type WantedMerchant = CallBounds & { readonly merchant: string };

/** A merchant as the replica lists it; a text: why it does not show it. */
async function listedMerchant(
  broker: BrokerPlace,
  url: URL,
  { merchant, ...bounds }: WantedMerchant,
): Promise<ListedMerchant | string> {
  const listed = await listing(broker, { url }, bounds);
  if (typeof listed === 'string') return listed;
  const names = listed.merchants.map(({ id }) => id);
  return listed.merchants.find(({ id }) => id === merchant) ?? unlistedText(merchant, names);
}

/** The same of all replicas at once: of the first one where that shows it, or else of another that does; else why the first one does not. */
export async function listedAnywhere(
  broker: BrokerPlace,
  first: URL,
  wanted: WantedMerchant,
): Promise<ListedMerchant | string> {
  const others = broker.urls.filter((url) => url !== first);
  const ask = (url: URL): Promise<ListedMerchant | string> => listedMerchant(broker, url, wanted);
  const [told, ...found] = await Promise.all([ask(first), ...others.map(ask)]);
  return typeof told === 'object' ? told : (found.find((one) => typeof one === 'object') ?? told);
}
