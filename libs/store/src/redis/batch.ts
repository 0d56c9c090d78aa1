/** Keeps a single script from blocking the server for long. */
const MAX_BATCH = 100;

/** Groups items by `keyOf` and cuts each group into batches, with the items in the order given. */
export function batchesBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): readonly [Key, Item[]][] {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups].flatMap(([key, group]) => cut(group).map((batch): [Key, Item[]] => [key, batch]));
}

function cut<Item>(items: readonly Item[]): readonly Item[][] {
  const count = Math.ceil(items.length / MAX_BATCH);
  return Array.from({ length: count }, (_, index) => items.slice(index * MAX_BATCH, (index + 1) * MAX_BATCH));
}

/** Keeps a batch from waiting behind so many others that its command times out before the server has seen it. */
const BATCHES_IN_FLIGHT = 4;

/** Works through the batches, a few at a time; rejects with the first failure. */
export async function inTurn<Batch>(batches: readonly Batch[], work: (batch: Batch) => Promise<void>): Promise<void> {
  const waiting = batches.values();
  const lane = async (): Promise<void> => {
    for (const batch of waiting) await work(batch);
  };
  await Promise.all(Array.from({ length: BATCHES_IN_FLIGHT }, lane));
}
