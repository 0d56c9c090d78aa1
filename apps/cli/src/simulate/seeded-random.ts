/** Numbers in [0, 1) that a seed reproduces (mulberry32), so that a simulation can be replayed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Gives each merchant of a run its own luck (FNV-1a): what one of them meets says nothing about the next. */
export function seedOf(seed: number, merchant: string): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (const byte of Buffer.from(merchant)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
