/** So that no single script holds the server up for long. */
const LARGEST_BATCH = 200;

/** Groups items by `keyOf`, each group cut into batches, items in the order given. */
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
  const count = Math.ceil(items.length / LARGEST_BATCH);
  return Array.from({ length: count }, (_, index) => items.slice(index * LARGEST_BATCH, (index + 1) * LARGEST_BATCH));
}
