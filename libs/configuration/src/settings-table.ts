import { formatDuration } from '#libs/clock';
import { checkSettings } from './check-settings.js';
import { childPath } from './fault.js';
import { type SettingsClass, type Shape, shapesOf } from './setting.js';

const BEGIN = '<!-- settings: begin, written by npm run reference -->';
const END = '<!-- settings: end -->';

const COLUMNS = ['setting', 'type', 'default', 'allowed', 'meaning'] as const;

type Row = Readonly<Record<(typeof COLUMNS)[number], string>>;

/**
 * The document with the table of all settings between its two markers; the rest stays as it is. The table is not
 * aligned: prettier does that.
 * @throws TypeError unless each marker occurs exactly once, in the right order
 */
export function withSettingsTable(document: string, settings: SettingsClass): string {
  const begin = document.indexOf(BEGIN);
  const end = document.indexOf(END);
  const areSingle = document.lastIndexOf(BEGIN) === begin && document.lastIndexOf(END) === end;
  if (begin < 0 || end < begin || !areSingle) {
    throw new TypeError(`the table has its place between one ${BEGIN} and one ${END}`);
  }
  return `${document.slice(0, begin)}${BEGIN}\n\n${settingsTable(settings)}\n\n${document.slice(end)}`;
}

/** A Markdown table with a row for each setting of the class and of the sections in it, in the order of declaration. */
export function settingsTable(settings: SettingsClass): string {
  const lines = rowsOf(settings, '').map((row) => COLUMNS.map((column) => row[column]));
  return [COLUMNS, COLUMNS.map(() => '---'), ...lines]
    .map((cells) => `| ${cells.map(inCell).join(' | ')} |`)
    .join('\n');
}

function rowsOf(settings: SettingsClass, parent: string): Row[] {
  return [...shapesOf(settings)].flatMap(([name, shape]) => {
    const path = childPath(parent, name);
    if (shape.kind === 'section') return rowsOf(shape.of, path);
    if (shape.kind === 'list') return [...rowOfList(path, shape), ...rowsOf(shape.of, `${path}[]`)];
    return {
      setting: `\`${path}\``,
      type: shape.kind.replaceAll('_', ' '),
      default: defaultOf(settings, name, shape),
      allowed: asMarkdown(shape.allowed),
      meaning: shape.meaning,
    };
  });
}

/** Only if the sequence means something as a whole: any other is fully described by its items. */
function rowOfList(path: string, { least, described }: Extract<Shape, { readonly kind: 'list' }>): Row[] {
  if (described === undefined) return [];
  const { meaning, most, example } = described;
  return [
    {
      setting: `\`${path}\``,
      type: 'list',
      default: `\`${example}\``,
      allowed: asMarkdown(`${least} to ${most} items`),
      meaning,
    },
  ];
}

/**
 * A setting without an initial value is required if its absence is a fault; the check itself decides, so this cannot be
 * out of date.
 */
function defaultOf(settings: SettingsClass, name: string, { kind, property }: Shape): string {
  const value = (new settings() as Record<string, unknown>)[property];
  if (value === undefined) {
    return checkSettings({}, settings).faults.some(({ path }) => path === name) ? 'required' : '-';
  }
  const isDuration = kind === 'text' && typeof value === 'number';
  return `\`${isDuration ? formatDuration(value) : typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

/** The words of a fault are plain text, in which `'*'` and `_` have no special meaning. */
function asMarkdown(plain: string): string {
  return plain.replace(/[\\`*_[\]<>]/g, '\\$&');
}

function inCell(markdown: string): string {
  return markdown.replaceAll('|', '\\|');
}
