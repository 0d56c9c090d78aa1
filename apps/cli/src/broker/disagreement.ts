import type { ListedMerchant } from './listed-merchant.js';

/**
 * A session gets from one replica to the others within milliseconds: a difference that lasts this long is no hand-over.
 */
export const HANDED_OVER_WITHIN_MS = 1_000;

const RUNBOOK = 'replicas-disagree';

/** What one replica lists. */
export interface Look {
  readonly place: string;
  readonly replica?: string;
  readonly merchants: readonly Pick<ListedMerchant, 'id' | 'generation'>[];
}

/** A merchant whose newest session has not reached every replica that holds one. */
export interface Disagreement {
  readonly merchant: string;
  readonly newest: number;
  /** The names of the replicas that hold an older one. */
  readonly behind: readonly string[];
  readonly runbook: typeof RUNBOOK;
}

export function disagreementsOf(looks: readonly Look[]): readonly Disagreement[] {
  return disagreementsOn(looks, newestOf(looks));
}

/** Those of `before` that still hold. Anything newer than that may be on its way in turn. */
export function lastingOf(before: readonly Disagreement[], looks: readonly Look[]): readonly Disagreement[] {
  return disagreementsOn(looks, new Map(before.map(({ merchant, newest }) => [merchant, newest])));
}

export function disagreementText({ merchant, newest, behind, runbook }: Disagreement): string {
  const [holds, names] = [behind.length === 1 ? 'holds' : 'hold', behind.join(', ')];
  return `${merchant}: ${names} ${holds} an older session than generation ${newest}, which another replica has had for more than a second (runbook: ${runbook})`;
}

function newestOf(looks: readonly Look[]): ReadonlyMap<string, number> {
  const newest = new Map<string, number>();
  for (const { id, generation = 0 } of looks.flatMap(({ merchants }) => merchants)) {
    newest.set(id, Math.max(generation, newest.get(id) ?? 0));
  }
  return newest;
}

/** A replica that holds no session says so itself. */
function disagreementsOn(looks: readonly Look[], newestOfEach: ReadonlyMap<string, number>): readonly Disagreement[] {
  return [...newestOfEach].flatMap(([merchant, newest]) => {
    const behind = looks.flatMap(({ place, replica = place, merchants }) => {
      const { generation = newest } = merchants.find(({ id }) => id === merchant) ?? {};
      return generation < newest ? [replica] : [];
    });
    return behind.length === 0 ? [] : [{ merchant, newest, behind, runbook: RUNBOOK } as const];
  });
}
