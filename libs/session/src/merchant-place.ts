const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * The place of a merchant among all, in [0, 1): always the same for one id, and evenly spread over any number of them,
 * even for ids that differ only in their last digit (FNV-1a, finished as in MurmurHash3).
 */
export function placeOf(merchant: string): number {
  let hash = FNV_OFFSET;
  for (let index = 0; index < merchant.length; index += 1) {
    hash = Math.imul(hash ^ merchant.charCodeAt(index), FNV_PRIME);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
