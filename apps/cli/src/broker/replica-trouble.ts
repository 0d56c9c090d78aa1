import { gravestOf } from '../exit-codes.js';
import { type AskFault, type Classed, faultOfSilence } from './ask-fault.js';
import type { BrokerPlace } from './broker-place.js';
import type { NoAnswer } from './exchange-cause.js';

/** One of the followed replicas, and why it says nothing about the merchant. */
export interface ReplicaTrouble extends Classed {
  readonly url: URL;
}

/** For a replica that gave no answer. */
export const troubleOf = (url: URL, why: NoAnswer, broker: Pick<BrokerPlace, 'ca'>): ReplicaTrouble => ({
  url,
  error: faultOfSilence(why, { url }, broker),
  fault: why.fault,
});

/** For people: a line for each replica, and each remedy once, after the replicas that it is for. */
export function troubleLines(
  troubles: readonly ReplicaTrouble[],
  nameOf: (url: URL) => string = ({ origin }) => origin,
): readonly string[] {
  const remedies = new Set(troubles.map(({ error }) => error.remedy));
  return [...remedies].flatMap((remedy) => [
    ...troubles
      .filter(({ error }) => error.remedy === remedy)
      .map(({ url, error }) => `${nameOf(url)}: ${error.message}`),
    ...(remedy === undefined ? [] : [`What to do: ${remedy}`]),
  ]);
}

export interface ShownTroubles {
  /** The gravest fault, among the replicas that have had the merchant if there are any. */
  readonly error: AskFault;
  /** The error of each replica, if several were given. */
  readonly replicas?: readonly ShownTrouble[];
}

interface ShownTrouble {
  readonly place: string;
  readonly error: AskFault;
  /** The replica has shown the merchant before. */
  readonly hadMerchant?: true;
}

export type Troubles = readonly [ReplicaTrouble, ...ReplicaTrouble[]];

interface Given {
  readonly urls: BrokerPlace['urls'];
  readonly hasHad?: (url: URL) => boolean;
}

/**
 * For programs, about the replicas that were given. Whatever hides a replica that has had the merchant weighs more than
 * any other trouble.
 */
export function troubleFacts(troubles: Troubles, { urls, hasHad = () => false }: Given): ShownTroubles {
  const { error } = gravest(troubles.filter(({ url }) => hasHad(url))) ?? gravest(troubles) ?? troubles[0];
  if (urls.length === 1) return { error };
  const shown = ({ url, error: own }: ReplicaTrouble): ShownTrouble => ({
    ...{ place: url.origin, error: own },
    ...(hasHad(url) ? { hadMerchant: true } : {}),
  });
  return { error, replicas: troubles.map(shown) };
}

function gravest(troubles: readonly ReplicaTrouble[]): ReplicaTrouble | undefined {
  const fault = gravestOf(troubles.map((one) => one.fault));
  return troubles.find((one) => one.fault === fault);
}
