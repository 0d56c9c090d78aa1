import type { CreateCallBudget, SessionSettings } from '#libs/session';
import type { SimulationSetup } from './simulation.js';

/** What another run has differently: a setting, or the lifetime, which the bank decides. */
export type Change =
  | { readonly of: 'timeout'; readonly timeoutMs: number }
  | { readonly of: 'lead'; readonly share: number }
  | { readonly of: 'leadTime'; readonly leadMs: number }
  /** `isPaced`: with fewer calls at once. */
  | { readonly of: 'budget'; readonly windows: CreateCallBudget; readonly isPaced?: true }
  | { readonly of: 'lifetime'; readonly lifetimeMs: number };

/** The kinds that advice distinguishes: a lead in minutes is only a lead in another unit. */
export type ChangeKind = Exclude<Change['of'], 'leadTime'> | 'leadWithBudget' | 'pace';

/** For several changes, the kind of the last one; a longer timeout may only be the basis for it. */
export function kindOf(changes: readonly Change[]): ChangeKind | undefined {
  if (changes.some((change) => change.of === 'budget' && change.isPaced)) return 'pace';
  const [first, second] = changes.length > 1 ? changes.filter(({ of }) => of !== 'timeout') : changes;
  if (second !== undefined) return 'leadWithBudget';
  return first?.of === 'leadTime' ? 'lead' : first?.of;
}

/** In either unit. */
export const isOfLead = ({ of }: Change): boolean => of === 'lead' || of === 'leadTime';

export function changed(setup: SimulationSetup, changes: readonly Change[]): SimulationSetup {
  return changes.reduce((run, change) => withChange(run, change), setup);
}

function withChange(setup: SimulationSetup, change: Change): SimulationSetup {
  const { settings, behaviour } = setup;
  const set = (more: Partial<SessionSettings>): SimulationSetup => ({ ...setup, settings: { ...settings, ...more } });
  switch (change.of) {
    case 'timeout':
      return set({ gatewayTimeoutMs: change.timeoutMs });
    case 'lead':
      return set({ renewBefore: { kind: 'share', share: change.share } });
    case 'leadTime':
      return set({ renewBefore: { kind: 'duration', durationMs: change.leadMs } });
    case 'budget':
      return set({ budget: change.windows });
    case 'lifetime':
      return { ...setup, behaviour: { ...behaviour, lifetimeMs: change.lifetimeMs } };
  }
}
