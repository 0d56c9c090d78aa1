import { toRfc3339 } from '#libs/clock';
import type { CommandContext } from '../terminal.js';
import type { Tone } from './listed-merchant.js';
import { toned } from './toned.js';

/** Something to report about a followed broker, for people and for programs. Neither form holds a secret. */
export interface Notice {
  /** Distinguishes the kinds of line. A contract with scripts: docs/command-line-json.md has the same list. */
  readonly event: 'session' | 'condition' | 'expired' | 'store' | 'credential' | 'broker' | 'replicas' | 'ended';
  /** The merchant, or the replica. */
  readonly about: string;
  readonly words: string;
  /** What the words begin with, shown in this colour on a terminal. */
  readonly state?: { readonly word: string; readonly tone: Tone };
  readonly facts: object;
}

export type TellNotice = (notice: Notice) => void;

/** Prints a line for each notice, with the time. */
export function noticePrinter(
  { json }: { readonly json?: true },
  { clock, terminal }: Pick<CommandContext, 'clock' | 'terminal'>,
): TellNotice {
  const hasColours = terminal.hasColours === true;
  return ({ event, about, words, state, facts }) => {
    const at = toRfc3339(clock.now());
    const word = state?.word ?? '';
    const shown = toned(word, state?.tone, hasColours) + words.slice(word.length);
    terminal.out(json === true ? JSON.stringify({ event, at, ...facts }) : `${at}  ${about}  ${shown}`);
  };
}
