import type { Command } from 'commander';

/** A word that may come next, with what it means. */
export interface Word {
  readonly text: string;
  readonly meaning: string;
}

/** An option that is followed by a value. */
interface Valued {
  readonly option: string;
  /** Absent: the name of a file, or something that no shell knows. */
  readonly choices?: readonly string[];
}

/** A command as a shell needs to know it. */
export interface CommandNode {
  /** `keys check`; empty for the program itself. */
  readonly path: string;
  readonly words: readonly Word[];
  readonly valued: readonly Valued[];
  /** The names of commands below it. */
  readonly subcommands: readonly string[];
  /** Whether an argument may be the name of a file, or anything else that no shell knows. */
  readonly takesAnything: boolean;
}

/** What is declared of the program and of every command below it, so that nothing has to be said twice. */
export function commandTree(program: Command, path = ''): CommandNode[] {
  const options = program.options.map(({ long, description, required, optional, argChoices }) => ({
    word: { text: long ?? '', meaning: description },
    takesValue: required || optional,
    choices: argChoices,
  }));
  const subcommands = program.commands.map((command): Word => {
    return { text: command.name(), meaning: command.description() };
  });
  const choices = program.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const node: CommandNode = {
    path,
    words: [
      ...subcommands,
      ...choices.map((text): Word => ({ text, meaning: '' })),
      ...options.map(({ word }) => word),
      { text: '--help', meaning: 'display help for command' },
    ],
    valued: options
      .filter(({ takesValue }) => takesValue)
      .map((each) => ({ option: each.word.text, ...(each.choices === undefined ? {} : { choices: each.choices }) })),
    subcommands: subcommands.map(({ text }) => text),
    takesAnything: program.registeredArguments.some(({ argChoices }) => argChoices === undefined),
  };
  const below = program.commands.flatMap((command) => commandTree(command, `${path} ${command.name()}`.trim()));
  return [node, ...below];
}

/** What a word and the command before it lead to, e.g. `keys` + `check`. */
export function steps(tree: readonly CommandNode[]): readonly string[] {
  return tree.flatMap(({ path, subcommands }) => subcommands.map((name) => `${path} ${name}`));
}
