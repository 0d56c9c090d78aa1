import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './kubernetes-programs.js';

export const page = readFileSync(join(root, 'docs/kubernetes.md'), 'utf8');

/** @returns the text between a heading and the next one. @throws Error if the page has no such heading */
export function sectionOf(heading: string): string {
  const text = page.split(/^## /m).find((section) => section.startsWith(`${heading}\n`));
  if (text === undefined) throw new Error(`docs/kubernetes.md has no section "${heading}"`);
  return text;
}

/** The blocks of a section in one language, without the indentation that a list gives them. */
export function blocksOf(heading: string, language: 'sh' | 'yaml'): readonly string[] {
  const blocks = sectionOf(heading).matchAll(new RegExp(`^( *)\`\`\`${language}\n([^]*?)\n *\`\`\`$`, 'gm'));
  return [...blocks].map(([, indent = '', text = '']) => text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''));
}

/** @returns the one block that contains the text. @throws Error if there is none or more than one */
export function blockOf(heading: string, language: 'sh' | 'yaml', text: string): string {
  const [found, ...others] = blocksOf(heading, language).filter((block) => block.includes(text));
  if (found === undefined || others.length > 0) throw new Error(`"${heading}" has not one block with "${text}"`);
  return found;
}

/** @returns a broker's configuration with the policies that the page has for an egress */
export function withEgressPolicies(configuration: string): string {
  const policies = blockOf('An egress', 'yaml', 'session-egress').replaceAll(/^/gm, '    ');
  const changed = configuration.replace(/^ {2}policies:\n/m, (head) => `${head}${policies}\n`);
  if (changed === configuration) throw new Error('the configuration has no policies');
  return changed;
}
