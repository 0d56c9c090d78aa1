import type { Session } from '#libs/session';
import type { Judge } from './judge.js';

/**
 * One generation, one session: on its way to the store, at rest and held, on every replica and in each of its lives.
 */
export class IdentityCheck {
  readonly #judge: Judge;
  readonly #tokens = new Map<string, string>();

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  seen({ merchant, generation, authToken }: Session, where: string): void {
    const name = `${merchant}/${generation}`;
    const known = this.#tokens.get(name);
    if (known === undefined) this.#tokens.set(name, authToken);
    else if (known !== authToken) {
      this.#judge.violated('no generation names two sessions', `${name} is ${known} and ${authToken} (${where})`);
    }
  }
}
