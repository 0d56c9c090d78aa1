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
  /** Of each its own, where there are several. */
  readonly replicas?: readonly { readonly place: string; readonly error: AskFault }[];
}

/** For programs. */
export function troubleFacts([first, ...others]: readonly [ReplicaTrouble, ...ReplicaTrouble[]]): ShownTroubles {
  if (others.length === 0) return { error: first.error };
  const all = [first, ...others];
  const fault = gravestOf(all.map((one) => one.fault));
  const { error } = all.find((one) => one.fault === fault) ?? first;
  return { error, replicas: all.map((one) => ({ place: one.url.origin, error: one.error })) };
}
