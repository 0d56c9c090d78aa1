import { gravestOf } from '../exit-codes.js';
import { type AskFault, type Classed, faultOfSilence } from './ask-fault.js';
import type { BrokerPlace } from './broker-place.js';
import type { NoAnswer } from './exchange-cause.js';

/** One of the replicas that are followed, and why it says nothing of the merchant. */
export interface ReplicaTrouble extends Classed {
  readonly url: URL;
}

/** Of one that gave no answer. */
export const troubleOf = (url: URL, why: NoAnswer, broker: Pick<BrokerPlace, 'ca'>): ReplicaTrouble => ({
  url,
  error: faultOfSilence(why, { url }, broker),
  fault: why.fault,
});

/** For people: each replica in a line, and what to do once behind those that it is of. */
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

interface ShownTroubles {
  /** The gravest. */
  readonly error: AskFault;
  /** Of each its own, where several were given. */
  readonly replicas?: readonly { readonly place: string; readonly error: AskFault }[];
}

type Troubles = readonly [ReplicaTrouble, ...ReplicaTrouble[]];

/** For programs, of the replicas that were given. */
export function troubleFacts(troubles: Troubles, { length }: BrokerPlace['urls']): ShownTroubles {
  const [first] = troubles;
  const fault = gravestOf(troubles.map((one) => one.fault));
  const { error } = troubles.find((one) => one.fault === fault) ?? first;
  if (length === 1) return { error };
  return { error, replicas: troubles.map((one) => ({ place: one.url.origin, error: one.error })) };
}
