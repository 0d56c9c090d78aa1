import type { Command } from 'commander';

/** A word that may come next, with what it means. */
export interface Word {
  readonly text: string;
  readonly meaning: string;
}

/** An option that takes a value. */
interface Valued {
  readonly option: string;
  /** Absent if the value is a file name, or something that no shell knows. */
  readonly choices?: readonly string[];
}

/** A command as a shell needs to know it. */
export interface CommandNode {
  /** `keys check`; empty for the program itself. */
  readonly path: string;
  readonly words: readonly Word[];
  readonly valued: readonly Valued[];
  /** The names of its subcommands. */
  readonly subcommands: readonly string[];
  /** Whether an argument may be a file name, or something else that no shell knows. */
  readonly takesAnything: boolean;
}

/** What is declared of the program and all its commands, so that nothing has to be written twice. */
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

/** Every step from a command to one of its subcommands, e.g. `keys` + `check`. */
export function steps(tree: readonly CommandNode[]): readonly string[] {
  return tree.flatMap(({ path, subcommands }) => subcommands.map((name) => `${path} ${name}`));
}
