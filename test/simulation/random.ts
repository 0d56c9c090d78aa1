/** Pseudo-random draws for one purpose (mulberry32): draws for other purposes do not change them. */
export class Random {
  #state: number;

  constructor(seed: number, purpose: string) {
    this.#state = seed >>> 0;
    for (const letter of purpose) this.#state = Math.imul(this.#state ^ letter.charCodeAt(0), 0x01000193) >>> 0;
    // Neighbouring seeds start out alike: the first draws are skipped.
    for (let round = 0; round < 4; round += 1) this.unit();
  }

  /** In [0, 1). */
  readonly unit = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };

  between(least: number, most: number): number {
    return least + this.unit() * (most - least);
  }

  /** A whole number from `least` to `most`, both included. */
  whole(least: number, most: number): number {
    return Math.floor(this.between(least, most + 1));
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  oneOf<Choice>(choices: readonly Choice[]): Choice {
    return choices[this.whole(0, choices.length - 1)] as Choice;
  }
}
