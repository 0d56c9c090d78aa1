import type { Command } from 'commander';
import { commandTree } from '../completion/command-tree.js';
import { scriptFor, type Shell } from '../completion/shell-scripts.js';
import type { Report } from '../report.js';

/** The script with which a shell completes commands, options and their values, generated from their declarations. */
export function completion(shell: Shell, program: Command): Report {
  const script = scriptFor(shell, commandTree(program));
  return { lines: [script], json: { shell, script } };
}
