import type { DueMerchants } from '#libs/session';

export interface DueEntry {
  readonly merchant: string;
  /** 0 or less: due, and for how long. */
  readonly dueInMs: number;
}

/** One shard's index: its earliest entries, and how many it has in total. */
export interface DuePage {
  readonly size: number;
  readonly entries: readonly DueEntry[];
}

/** Reads what due.lua returns: size, merchant, ms, merchant, ms, ... */
export function readDueReply(reply: unknown): DuePage {
  const [size, ...flat] = reply as [number, ...string[]];
  const entries = flat.flatMap((merchant, index) =>
    index % 2 === 0 ? [{ merchant, dueInMs: Number(flat[index + 1]) }] : [],
  );
  return { size, entries };
}

/** Merges the shards' lists, each of which holds its `limit` + 1 earliest. Shards are compared by time left. */
export function mergeDue(shards: readonly (readonly DueEntry[])[], limit: number): DueMerchants {
  const inOrder = shards.flat().sort((a, b) => a.dueInMs - b.dueInMs);
  const due = inOrder.slice(0, limit).filter(({ dueInMs }) => dueInMs <= 0);
  const next = inOrder[due.length];
  return {
    merchants: due.map(({ merchant }) => merchant),
    ...(next === undefined ? {} : { nextDueInMs: Math.max(0, next.dueInMs) }),
  };
}
