import type { RenewalTrigger } from './ports/session-events.js';

/** Between two sessions that are created because readers wanted more time, across all replicas. */
export const EARLY_RENEWAL_COOL_DOWN_MS = 10_000;
/** However often a merchant's sessions are rejected, at most one per this time is created because of it. */
export const REJECTION_COOL_DOWN_MS = 10_000;

interface TriggerRules {
  /** The store refuses it before the due moment, unless the wish says that this has passed. */
  readonly waitsForDue: boolean;
  /** An earlier refusal stands for it as well. The schedule asks the store itself, a person has mended the cause. */
  readonly mindsRefusals: boolean;
  /** It is not held up by the back-off after a failure. */
  readonly ignoresBackOff: boolean;
  /** When it does not wait for the end of a back-off, within a share of the budget. */
  readonly cutsBackOffShort: 'never' | 'with_nothing_live' | 'always';
  /** What it waits for after another of its kind, if it replaces something of use: then it may spend a share only. */
  readonly coolDown: { readonly replaces: 'fresh' | 'living'; readonly atLeastMs: number } | undefined;
  /** Consumers are asked to hold their calls first. */
  readonly handsOver: boolean;
  /** After a return to the store, others may hold something newer: they are heard first. */
  readonly waitsForOthers: boolean;
}

const planned = {
  waitsForDue: true,
  mindsRefusals: false,
  ignoresBackOff: false,
  cutsBackOffShort: 'never',
  coolDown: undefined,
  handsOver: false,
  waitsForOthers: true,
} as const;

/** What starts a renewal, and what each of them may do. Whatever is not said here is the same for all. */
export const triggers: Readonly<Record<RenewalTrigger, TriggerRules>> = {
  startup: planned,
  schedule: { ...planned, handsOver: true },
  demand: {
    ...planned,
    waitsForDue: false,
    mindsRefusals: true,
    cutsBackOffShort: 'with_nothing_live',
    coolDown: { replaces: 'fresh', atLeastMs: EARLY_RENEWAL_COOL_DOWN_MS },
  },
  rejection: {
    ...planned,
    waitsForDue: false,
    mindsRefusals: true,
    cutsBackOffShort: 'always',
    coolDown: { replaces: 'living', atLeastMs: REJECTION_COOL_DOWN_MS },
    waitsForOthers: false,
  },
  operator: { ...planned, waitsForDue: false, ignoresBackOff: true },
};
