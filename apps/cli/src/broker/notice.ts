import { toRfc3339 } from '#libs/clock';
import type { CommandContext } from '../terminal.js';

/** Something that is told of a broker that is followed: for people and for programs, and nothing secret in either. */
export interface Notice {
  /** Tells one kind of line from another. A contract with scripts: docs/command-line.md has the same list. */
  readonly event: 'session' | 'condition' | 'expired' | 'store' | 'credential' | 'broker' | 'replicas' | 'ended';
  /** The merchant, or the replica. */
  readonly about: string;
  readonly words: string;
  readonly facts: object;
}

export type TellNotice = (notice: Notice) => void;

/** A line for each notice, with the moment. */
export function noticePrinter(
  { json }: { readonly json?: true },
  { clock, terminal }: Pick<CommandContext, 'clock' | 'terminal'>,
): TellNotice {
  return ({ event, about, words, facts }) => {
    const at = toRfc3339(clock.now());
    terminal.out(json === true ? JSON.stringify({ event, at, ...facts }) : `${at}  ${about}  ${words}`);
  };
}
