/** Where calls wait until they are released. */
export class Gate {
  readonly #waiting: (() => void)[] = [];
  #isOpen = false;

  get waiting(): number {
    return this.#waiting.length;
  }

  pass(): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Releases the first `count`. @returns how many there were */
  release(count: number): number {
    const released = this.#waiting.splice(0, count);
    for (const resolve of released) resolve();
    return released.length;
  }

  /** From now on, no call waits. */
  open(): void {
    this.#isOpen = true;
    this.release(this.#waiting.length);
  }
}
