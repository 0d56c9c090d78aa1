import type { IAsyncProperty, IProperty } from 'fast-check';

/** What is fed, started with everything that it needs. */
export interface OpenTarget {
  /** Throws on a find. */
  readonly property: IProperty<[unknown]> | IAsyncProperty<[unknown]>;
  /** Inputs per run of the property; one by default. */
  readonly takeCount?: () => number;
  readonly close: () => Promise<void>;
}

export interface FuzzTarget {
  readonly name: string;
  /** Runs of its property in a round, in which every target takes part: the cheaper they are, the more. */
  readonly runsPerRound: number;
  readonly open: () => Promise<OpenTarget>;
}

const nothing = (): Promise<void> => Promise.resolve();

/** A target that starts nothing: its property is all there is. */
export function pureTarget<Input>(
  parts: Pick<FuzzTarget, 'name' | 'runsPerRound'>,
  property: () => Promise<IProperty<[Input]> | IAsyncProperty<[Input]>> | IProperty<[Input]> | IAsyncProperty<[Input]>,
): FuzzTarget {
  return { ...parts, open: async () => ({ property: (await property()) as OpenTarget['property'], close: nothing }) };
}

/** @throws Error if it does not hold: a find */
export function demand(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(sentence);
}
