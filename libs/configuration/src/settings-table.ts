import { nameInFile } from './check-settings.js';
import { childPath } from './fault.js';
import type { Tree } from './read-yaml.js';
import type { Fields, Shape } from './setting.js';

/** Between its two markers in a document. */
const PLACE = /(?<=<!-- settings: begin, written by npm run reference -->)[^]*(?=<!-- settings: end -->)/;

/** The document with the table of all settings between its two markers; prettier aligns it. */
export function withSettingsTable(document: string, settings: Fields): string {
  return document.replace(PLACE, () => `\n\n${settingsTable(settings)}\n\n`);
}

/** A Markdown table with a row for each setting and those of the sections in it, in the order of declaration. */
function settingsTable(settings: Fields): string {
  const head = ['setting', 'type', 'default', 'allowed', 'meaning'];
  return [head, head.map(() => '---'), ...rowsOf(settings, '')]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
}

function rowsOf(settings: Fields, parent: string): string[][] {
  return Object.entries(settings).flatMap(([option, { shape }]) => {
    const path = childPath(parent, nameInFile(option));
    if (shape.kind === 'section') return rowsOf(shape.of, path);
    const allowed = shape.kind === 'list' ? `${shape.least} to ${shape.most} items` : shape.allowed;
    const row = [`\`${path}\``, shape.kind, defaultOf(shape), asMarkdown(allowed), shape.meaning ?? ''];
    if (shape.kind !== 'list') return [row];
    // A sequence that does not mean something as a whole is fully described by its items.
    return [...(shape.meaning === undefined ? [] : [row]), ...rowsOf(shape.of, `${path}[]`)];
  });
}

function defaultOf({ byDefault, isOptional }: Shape): string {
  if (byDefault !== undefined) return `\`${asFlow(byDefault)}\``;
  return isOptional === true ? '-' : 'required';
}

function asFlow(tree: Tree): string {
  if (Array.isArray(tree)) return `[${tree.map(asFlow).join(', ')}]`;
  if (typeof tree !== 'object') return String(tree);
  const members = Object.entries(tree).map(([name, value]) => `${name}: ${asFlow(value)}`);
  return `{ ${members.join(', ')} }`;
}

/** The words of a fault are plain text, in which `'*'` and `_` have no special meaning. */
function asMarkdown(plain: string): string {
  return plain.replace(/[\\`*_[\]<>]/g, '\\$&');
}
