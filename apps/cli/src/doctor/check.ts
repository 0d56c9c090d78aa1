import type { ExitClass } from '../exit-codes.js';

/** One thing a check reports. A message never holds a secret: only constant text, names, paths and numbers. */
export interface Finding {
  /** `fault` fails the check; `warning` is worth a look; `fact` is neither. */
  readonly level: 'fact' | 'warning' | 'fault';
  readonly message: string;
  /** What to do about it. */
  readonly remedy?: string;
  /** For a fault: its kind, which decides the exit code. */
  readonly faultClass?: ExitClass;
}

/** `not_applicable`: the configuration has nothing of the kind. `not_run`: the outcome is unknown. */
export type Verdict =
  | { readonly kind: 'looked'; readonly findings: readonly Finding[]; readonly facts?: object }
  | { readonly kind: 'not_applicable'; readonly reason: string }
  | { readonly kind: 'not_run'; readonly reason: string };

/** One question to the outside world. */
export interface Check {
  /** Stable, because scripts read it. */
  readonly name: string;
  /** What it looks at if there can be more than one: a merchant, a host. */
  readonly subject?: string;
  /** Names of checks that must have passed before this one makes sense, for the same subject or without one. */
  readonly needs?: readonly string[];
  /** After this time the check is abandoned and counts as not run. */
  readonly limitMs: number;
  /** May throw anything unexpected: the runner turns it into a fault. */
  run(signal: AbortSignal): Promise<Verdict>;
}

export const fact = (message: string): Finding => ({ level: 'fact', message });

export const warning = (message: string, remedy: string): Finding => ({ level: 'warning', message, remedy });

export const fault = (faultClass: ExitClass, message: string, remedy: string): Finding => ({
  level: 'fault',
  faultClass,
  message,
  remedy,
});

export const looked = (findings: readonly Finding[], facts?: object): Verdict => ({
  kind: 'looked',
  findings,
  ...(facts === undefined ? {} : { facts }),
});

export const notApplicable = (reason: string): Verdict => ({ kind: 'not_applicable', reason });

/** Longer lists add nothing. */
const MAX_NAMED = 10;

/** The first of many names, and how many more there are. */
export function some(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  return `${names.slice(0, MAX_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
