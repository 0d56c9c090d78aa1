import type { OverlayName } from './rendered-overlays.js';

/** One change of what is rendered, as text of its JSON, and what the check must say of it. */
export interface Damage {
  readonly check: string;
  readonly says: RegExp;
  /** Of which kind, and of which name if there are several; without it, any. */
  readonly of: readonly [kind: string, name?: string];
  readonly from: string | RegExp;
  readonly to: string;
  readonly overlay?: OverlayName;
}

export const OPTIONS: OverlayName = 'overlays/production-egress, with every option';
export const OWN: readonly [string, string] = ['Deployment', 'session-broker'];
export const POLICY: readonly [string, string] = ['NetworkPolicy', 'session-broker'];
