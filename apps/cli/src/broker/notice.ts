import { toRfc3339 } from '#libs/clock';
import type { CommandContext } from '../terminal.js';
import type { Tone } from './listed-merchant.js';
import { toned } from './toned.js';

/** Something that is told of a broker that is followed: for people and for programs, and nothing secret in either. */
export interface Notice {
  /** Tells one kind of line from another. A contract with scripts: docs/command-line-json.md has the same list. */
  readonly event: 'session' | 'condition' | 'expired' | 'store' | 'credential' | 'broker' | 'replicas' | 'ended';
  /** The merchant, or the replica. */
  readonly about: string;
  readonly words: string;
  /** What the words begin with, in this colour on a terminal. */
  readonly state?: { readonly word: string; readonly tone: Tone };
  readonly facts: object;
}

export type TellNotice = (notice: Notice) => void;

/** A line for each notice, with the moment. */
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
