import type { CommandContext } from '../terminal.js';
import type { BrokerPlace } from './broker-place.js';
import type { ListedMerchant } from './listed-merchant.js';
import { callReplica } from './replica-call.js';

/** A merchant as the broker lists it; a text: why the broker does not say; undefined: it is not in the list. */
export async function listedMerchant(
  broker: BrokerPlace,
  merchant: string,
  { clock, signal }: Pick<CommandContext, 'clock' | 'signal'>,
): Promise<ListedMerchant | string | undefined> {
  const [url] = broker.urls;
  if (url === undefined) return undefined;
  const answer = await callReplica(broker, { url }, { method: 'GET', path: '/v1/merchants', clock, signal });
  if (typeof answer === 'string') return answer;
  const { merchants } = answer.body;
  return Array.isArray(merchants)
    ? (merchants as readonly ListedMerchant[]).find(({ id }) => id === merchant)
    : undefined;
}
