import type { Trouble } from './fault.js';

export interface Loss {
  /** `hang`: never answered. `drop`: the connection is reset. */
  readonly kind: 'hang' | 'drop';
  readonly at: 'arrival' | 'answer' | 'body';
}

/** How a fault loses the call; undefined when the call is answered, however badly. */
export function lossOf(trouble: Trouble | undefined): Loss | undefined {
  if (trouble?.kind === 'hang' || trouble?.kind === 'drop') return trouble;
  if (trouble?.kind !== 'address_refused' || trouble.as === 'page') return undefined;
  return { kind: trouble.as === 'reset' ? 'drop' : 'hang', at: 'arrival' };
}
