import type { IntentName } from './intents.js';

/** One change to the rendered output, in its JSON text, and what the check must say of it. */
export interface Damage {
  readonly check: string;
  readonly says: RegExp;
  /** The kind, and the name if there are several; without a name, any. */
  readonly of: readonly [kind: string, name?: string];
  readonly from: string | RegExp;
  readonly to: string;
  readonly intent?: IntentName;
}

export const OPTIONS: IntentName = 'production, with every option';
export const OWN: readonly [string, string] = ['Deployment', 'session-broker'];
export const POLICY: readonly [string, string] = ['NetworkPolicy', 'session-broker'];
