import type { CommandContext } from '../terminal.js';
import type { BrokerPlace } from './broker-place.js';
import type { ListedMerchant } from './listed-merchant.js';
import { callReplica, type ReplicaPlace } from './replica-call.js';

type CallBounds = Pick<CommandContext, 'clock' | 'signal'>;

/** The merchants that the caller may see; a text: why there is no answer; undefined: the answer is no list, such as a refusal. */
export async function listing(
  broker: BrokerPlace,
  place: ReplicaPlace,
  { clock, signal }: CallBounds,
): Promise<readonly ListedMerchant[] | string | undefined> {
  const answer = await callReplica(broker, place, { method: 'GET', path: '/v1/merchants', clock, signal });
  if ('problem' in answer) return answer.problem;
  const { merchants } = answer.body;
  return Array.isArray(merchants) ? (merchants as readonly ListedMerchant[]) : undefined;
}

/** A merchant as the broker lists it; a text: why there is no answer; undefined: it is not in the list. */
export async function listedMerchant(
  broker: BrokerPlace,
  place: ReplicaPlace,
  { merchant, ...bounds }: CallBounds & { readonly merchant: string },
): Promise<ListedMerchant | string | undefined> {
  const listed = await listing(broker, place, bounds);
  return typeof listed === 'string' ? listed : listed?.find(({ id }) => id === merchant);
}
