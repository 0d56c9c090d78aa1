import type { CreateCallBudget, SessionSettings } from '#libs/session';
import type { SimulationSetup } from './simulation.js';

/** A setting, or the lifetime that the bank decides, as another run has it. */
export type Change =
  | { readonly of: 'timeout'; readonly timeoutMs: number }
  | { readonly of: 'lead'; readonly share: number }
  | { readonly of: 'leadTime'; readonly leadMs: number }
  /** Paced: with fewer calls at once. */
  | { readonly of: 'budget'; readonly windows: CreateCallBudget; readonly isPaced?: true }
  | { readonly of: 'lifetime'; readonly lifetimeMs: number };

/** As advice tells them apart: a lead in minutes is one in another unit. */
export type ChangeKind = Exclude<Change['of'], 'leadTime'> | 'leadWithBudget' | 'pace';

/** Of several the last one, to which a longer timeout may only be the ground. */
export function kindOf(changes: readonly Change[]): ChangeKind | undefined {
  if (changes.some((change) => change.of === 'budget' && change.isPaced)) return 'pace';
  const [first, second] = changes.length > 1 ? changes.filter(({ of }) => of !== 'timeout') : changes;
  if (second !== undefined) return 'leadWithBudget';
  return first?.of === 'leadTime' ? 'lead' : first?.of;
}

/** In whatever unit. */
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
