import type { CommandContext } from '../terminal.js';
import { gravestOf, type ExitClass } from '../exit-codes.js';
import type { AskFault, Classed } from './ask-fault.js';
import type { BrokerPlace } from './broker-place.js';
import { askFaultCodes } from './exchange-cause.js';
import { isListed, listedMerchant } from './listing.js';
import { GRANT_READ, NAME_OR_GRANT } from './remedies.js';
import { type ReplicaTrouble, type ShownTroubles, troubleFacts, troubleLines } from './replica-trouble.js';

type Bounds = Pick<CommandContext, 'clock' | 'signal'> & { readonly merchant: string };

export interface TurnedAway {
  readonly fault: ExitClass;
  readonly lines: readonly string[];
  readonly facts: ShownTroubles;
}

/**
 * Why each of several replicas does not show the merchant; undefined if the reason is the same everywhere, so that no
 * places need to be named.
 */
export async function turnedAwayBy(
  broker: BrokerPlace,
  { merchant, ...bounds }: Bounds,
): Promise<TurnedAway | undefined> {
  if (broker.urls.length === 1) return undefined;
  const asked = await Promise.all(
    broker.urls.map(async (url) => ({ url, said: await listedMerchant(broker, url, { merchant, ...bounds }) })),
  );
  const troubles = asked.flatMap(({ url, said }) => (isListed(said) ? [] : [{ url, ...withRemedy(said) }]));
  const [first, ...others] = troubles;
  if (first === undefined || new Set(troubles.map(({ error }) => error.code)).size === 1) return undefined;
  const unknown = troubles.find(isOfUnknown);
  const { error, ...facts } = troubleFacts([first, ...others], broker);
  return {
    fault: unknown?.fault ?? gravestOf(troubles.map((one) => one.fault)) ?? 'refused',
    lines: ['no replica shows the merchant', ...troubleLines(troubles)],
    facts: { error: unknown?.error ?? error, ...facts },
  };
}

/** A replica that does not know the caller may have the merchant, so its reason for ending the watch weighs most. */
const isOfUnknown = ({ error }: ReplicaTrouble): boolean => error.status === 401;

const remedies: Readonly<Record<string, string>> = { [askFaultCodes.noMerchant]: GRANT_READ, forbidden: NAME_OR_GRANT };

function withRemedy({ error, fault }: Classed): Classed {
  const remedy: AskFault['remedy'] = error.remedy ?? remedies[error.code];
  return { error: { ...error, ...(remedy === undefined ? {} : { remedy }) }, fault };
}
