import type { MomentMark } from '#libs/session';

export interface PairedMark {
  readonly real?: MomentMark;
  readonly expected?: MomentMark;
}

/** The marks of the store under test, paired with those of the specification: each pair stands for one moment. */
export class MarkPairs {
  readonly #realOf = new Map<string, MomentMark>();
  readonly #expectedOf = new Map<string, MomentMark>();
  readonly #named = new Map<string, MomentMark[]>();
  readonly #isExact: boolean;

  /** `isExact`: a mark of the store never stands for two moments, which holds if moments are far enough apart. */
  constructor(isExact: boolean) {
    this.#isExact = isExact;
  }

  pair(merchant: string, real: MomentMark | undefined, expected: MomentMark | undefined): void {
    expect(real === undefined).toBe(expected === undefined);
    if (real === undefined || expected === undefined) return;
    const [expectedKey, realKey] = [`${merchant} ${expected}`, `${merchant} ${real}`];
    expect(this.#realOf.get(expectedKey) ?? real).toBe(real);
    if (this.#isExact) expect(this.#expectedOf.get(realKey) ?? expected).toBe(expected);
    this.#realOf.set(expectedKey, real);
    if (!this.#expectedOf.has(realKey)) this.#named.set(merchant, [...(this.#named.get(merchant) ?? []), real]);
    this.#expectedOf.set(realKey, expected);
  }

  /** One of the merchant's last marks, and what the specification calls it. */
  some(merchant: string, pick: number): PairedMark {
    const latest = (this.#named.get(merchant) ?? []).slice(-3);
    const real = latest[pick % latest.length];
    const expected = real === undefined ? undefined : this.#expectedOf.get(`${merchant} ${real}`);
    return real === undefined || expected === undefined ? {} : { real, expected };
  }
}
