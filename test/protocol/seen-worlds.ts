const FIRST_SLOTS = 65_536;
const FULLEST = 0.6;

/**
 * The worlds that were seen, by key, and the way to each: what led to it, and from where. Takes some thirty bytes per
 * world, so that there is room for a hundred million.
 */
export class SeenWorlds {
  #slots = new Float64Array(FIRST_SLOTS);
  #from = new Int32Array(FIRST_SLOTS);
  #label = new Int32Array(FIRST_SLOTS);
  #count = 0;
  readonly #labels: string[] = [];
  readonly #labelled = new Map<string, number>();

  get size(): number {
    return this.#count;
  }

  /** @returns its place; undefined if it was seen before */
  add(key: number, from: number, label: string): number | undefined {
    // 0 is an empty slot.
    const wanted = key === 0 ? 1 : key;
    const slot = slotOf(this.#slots, wanted);
    if (this.#slots[slot] === wanted) return undefined;
    this.#slots[slot] = wanted;
    const place = this.#count++;
    if (place >= this.#from.length) this.#makeRoom();
    this.#from[place] = from;
    this.#label[place] = this.#numberOf(label);
    if (this.#count > this.#slots.length * FULLEST) this.#slots = spread(this.#slots);
    return place;
  }

  has(key: number): boolean {
    const wanted = key === 0 ? 1 : key;
    return this.#slots[slotOf(this.#slots, wanted)] === wanted;
  }

  /** The way to the world at this place. */
  wayTo(place: number): readonly string[] {
    const labels: string[] = [];
    for (let at = place; at > 0; at = this.#from[at] ?? 0) labels.unshift(this.#labels[this.#label[at] ?? 0] ?? '');
    return labels;
  }

  #numberOf(label: string): number {
    const known = this.#labelled.get(label) ?? this.#labels.push(label) - 1;
    this.#labelled.set(label, known);
    return known;
  }

  #makeRoom(): void {
    const longer = (array: Int32Array): Int32Array<ArrayBuffer> => {
      const copy = new Int32Array(array.length * 2);
      copy.set(array);
      return copy;
    };
    this.#from = longer(this.#from);
    this.#label = longer(this.#label);
  }
}

/** Where the key is, or would be. */
function slotOf(slots: Float64Array, key: number): number {
  const last = slots.length - 1;
  let slot = (key % 4_294_967_291) & last;
  while (slots[slot] !== 0 && slots[slot] !== key) slot = (slot + 1) & last;
  return slot;
}

function spread(slots: Float64Array): Float64Array<ArrayBuffer> {
  const wider = new Float64Array(slots.length * 2);
  for (const key of slots) if (key !== 0) wider[slotOf(wider, key)] = key;
  return wider;
}
