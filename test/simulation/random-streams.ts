import { seededRandom } from './seeded-random.js';

/**
 * Pseudo-random draws for one purpose: draws for other purposes do not change them, so that a schedule can be shrunk.
 */
export class RandomStream {
  readonly #next: () => number;

  constructor(seed: number, purpose: string) {
    let mixed = seed >>> 0;
    for (const letter of purpose) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193) >>> 0;
    this.#next = seededRandom(mixed);
    // Neighbouring seeds start out alike: the first draws are skipped.
    for (let round = 0; round < 4; round += 1) this.#next();
  }

  /** In [0, 1). */
  readonly unit = (): number => this.#next();

  between(least: number, most: number): number {
    return least + this.#next() * (most - least);
  }

  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least + 1));
  }

  chance(probability: number): boolean {
    return this.#next() < probability;
  }

  oneOf<Choice>(choices: readonly Choice[]): Choice {
    const chosen = choices[Math.floor(this.#next() * choices.length)];
    if (chosen === undefined) throw new Error('there is nothing to choose from');
    return chosen;
  }
}
