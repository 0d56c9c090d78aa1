import type { DueMerchants } from '#libs/session';

interface DueEntry {
  readonly merchant: string;
  /** 0 or less: due, and for that long. */
  readonly dueInMs: number;
}

/** Reads what due.lua returns: merchant, ms, merchant, ms, ... */
export function readDueReply(reply: unknown): readonly DueEntry[] {
  const flat = reply as readonly string[];
  return flat.flatMap((merchant, index) => (index % 2 === 0 ? [{ merchant, dueInMs: Number(flat[index + 1]) }] : []));
}

/** One list of the shards' lists, each of which holds its `limit` + 1 earliest. Shards are compared by time left. */
export function mergeDue(shards: readonly (readonly DueEntry[])[], limit: number): DueMerchants {
  const inOrder = shards.flat().sort((a, b) => a.dueInMs - b.dueInMs);
  const due = inOrder.slice(0, limit).filter(({ dueInMs }) => dueInMs <= 0);
  const next = inOrder[due.length];
  return {
    merchants: due.map(({ merchant }) => merchant),
    ...(next === undefined ? {} : { nextDueInMs: Math.max(0, next.dueInMs) }),
  };
}
