/** A session that a replica served, or would have served, at a moment on the one clock of the test. */
export interface ObservedRead {
  readonly kind: 'read';
  readonly replica: number;
  readonly atMs: number;
  readonly generation: number;
  /** Stands for the token: different sessions have different ones. */
  readonly token: string;
  readonly expiresAtMs: number;
}

/** A replica adopted a generation; the first one to do so has published it. */
export interface ObservedAdoption {
  readonly kind: 'adoption';
  readonly replica: number;
  readonly atMs: number;
  readonly generation: number;
  readonly token: string;
}

/** A create call, as the gateway saw it. */
export interface ObservedCall {
  readonly kind: 'call';
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

export type Observation = ObservedRead | ObservedAdoption | ObservedCall;

export interface HistoryBounds {
  /** How long after a generation was first adopted another replica may still serve an older one. */
  readonly staleForMs: number;
  /** Whether create calls may overlap: only while replicas may authorize alone. */
  readonly mayOverlap: boolean;
}

/** What is wrong with a history, one line for each fault. */
export function faultsOf(history: readonly Observation[], bounds: HistoryBounds): readonly string[] {
  const adoptions = history.filter((seen) => seen.kind === 'adoption').sort((a, b) => a.atMs - b.atMs);
  const reads = history.filter((seen) => seen.kind === 'read').sort((a, b) => a.atMs - b.atMs);
  const calls = history.filter((seen) => seen.kind === 'call').sort((a, b) => a.startedAtMs - b.startedAtMs);
  return [
    ...generationsGoBack(adoptions, 'took over'),
    ...generationsGoBack(reads, 'served'),
    ...tokensDiffer([...adoptions, ...reads]),
    ...expiredReads(reads),
    ...staleReads(reads, adoptions, bounds.staleForMs),
    ...(bounds.mayOverlap ? [] : overlappingCalls(calls)),
  ];
}

function generationsGoBack(
  seen: readonly { readonly replica: number; readonly generation: number }[],
  did: string,
): string[] {
  const newest = new Map<number, number>();
  const faults: string[] = [];
  for (const { replica, generation } of seen) {
    const before = newest.get(replica) ?? 0;
    if (generation < before) faults.push(`replica ${replica} ${did} ${generation} after ${before}`);
    newest.set(replica, Math.max(before, generation));
  }
  return faults;
}

function tokensDiffer(seen: readonly { readonly generation: number; readonly token: string }[]): string[] {
  const tokens = new Map<number, string>();
  return seen.flatMap(({ generation, token }) => {
    const known = tokens.get(generation) ?? token;
    tokens.set(generation, known);
    return known === token ? [] : [`generation ${generation} stands for two sessions`];
  });
}

function expiredReads(reads: readonly ObservedRead[]): string[] {
  return reads
    .filter(({ atMs, expiresAtMs }) => atMs >= expiresAtMs)
    .map(({ replica, generation }) => `replica ${replica} served ${generation} past its expiry`);
}

/**
 * One pass over both in chronological order: the yardstick is the newest generation that everyone should have by now.
 */
function staleReads(
  reads: readonly ObservedRead[],
  adoptions: readonly ObservedAdoption[],
  staleForMs: number,
): string[] {
  const faults: string[] = [];
  let next = 0;
  let due = 0;
  for (const { replica, atMs, generation } of reads) {
    for (let first = adoptions[next]; first !== undefined && first.atMs + staleForMs < atMs; first = adoptions[next]) {
      due = Math.max(due, first.generation);
      next += 1;
    }
    if (generation < due) faults.push(`replica ${replica} served ${generation} although ${due} had long been known`);
  }
  return faults;
}

function overlappingCalls(calls: readonly ObservedCall[]): string[] {
  let busyUntilMs = -Infinity;
  return calls.flatMap(({ startedAtMs, endedAtMs }) => {
    const overlaps = startedAtMs < busyUntilMs;
    busyUntilMs = Math.max(busyUntilMs, endedAtMs);
    return overlaps ? ['two create calls were in flight at once'] : [];
  });
}

/** For each generation, the time from the first replica that had it to the last. In milliseconds, sorted. */
export function spreadsOf(history: readonly Observation[], replicas: number): readonly number[] {
  const moments = new Map<number, number[]>();
  for (const seen of history) {
    if (seen.kind !== 'adoption') continue;
    moments.set(seen.generation, [...(moments.get(seen.generation) ?? []), seen.atMs]);
  }
  return [...moments.values()]
    .filter((each) => each.length === replicas)
    .map((each) => Math.max(...each) - Math.min(...each))
    .sort((a, b) => a - b);
}
