import type { ExitClass } from '../exit-codes.js';
import { gravestOf } from '../exit-codes.js';
import type { AskFault, Classed } from './ask-fault.js';

/** One of the replicas that are followed, and why it says nothing of the merchant. */
export interface ReplicaTrouble extends Classed {
  readonly url: URL;
}

/** For people: each replica in a line, and what to do once behind those that it is of. */
export function troubleLines(troubles: readonly ReplicaTrouble[]): readonly string[] {
  const remedies = new Set(troubles.map(({ error }) => error.remedy));
  return [...remedies].flatMap((remedy) => [
    ...troubles.filter(({ error }) => error.remedy === remedy).map(lineOf),
    ...(remedy === undefined ? [] : [`What to do: ${remedy}`]),
  ]);
}

const lineOf = ({ url, error }: ReplicaTrouble): string => `${url.origin}: ${error.message}`;

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
  const fault = gravestFault(all);
  const { error } = all.find((one) => one.fault === fault) ?? first;
  return { error, replicas: all.map((one) => ({ place: one.url.origin, error: one.error })) };
}

export const gravestFault = (troubles: readonly ReplicaTrouble[]): ExitClass | undefined =>
  gravestOf(troubles.map(({ fault }) => fault));
