import { readFileSync } from 'node:fs';
import { checkValues } from './check-values.js';
import { childPath } from './fault.js';
import { parseConfiguration } from './parse-configuration.js';
import { type SettingsClass, type Shape, shapesOf } from './setting.js';
import { BrokerSettings } from './settings/broker-settings.js';

interface Row {
  readonly path: string;
  readonly type: string;
  /** `-`: may be left out; `required`: may not; anything else is the default as JSON or text. */
  readonly fallback: string;
}

const document = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');

const documented: Row[] = [...document.matchAll(/^\| `([^`]+)`\s*\| ([^|]+?)\s*\| ([^|]+?)\s*\| .+ \|$/gm)].map(
  ([, path = '', type = '', fallback = '']) => ({ path, type, fallback: fallback.replaceAll('`', '') }),
);

const typeNames: Readonly<Record<Exclude<Shape['kind'], 'section' | 'list'>, string>> = {
  text: 'text',
  texts: 'texts',
  number: 'number',
  flag: 'flag',
  flag_or_text: 'flag or text',
};

function rowsOf(settings: SettingsClass, parent = ''): Row[] {
  const defaults = new settings() as Record<string, unknown>;
  return [...shapesOf(settings)].flatMap(([name, shape]) => {
    const path = childPath(parent, name);
    if (shape.kind === 'section') return rowsOf(shape.of, path);
    if (shape.kind === 'list') return rowsOf(shape.of, `${path}[]`);
    return [{ path, type: typeNames[shape.kind], fallback: fallbackOf(settings, name, defaults[name]) }];
  });
}

/** A setting without an initial value is required if its absence is reported. */
function fallbackOf(settings: SettingsClass, name: string, value: unknown): string {
  if (value !== undefined) return typeof value === 'string' ? value : JSON.stringify(value);
  return optionalOf(settings, name) ? '-' : 'required';
}

function optionalOf(settings: SettingsClass, name: string): boolean {
  const { faults } = checkValues({}, settings);
  return !faults.some(({ path }) => path === name);
}

describe('the settings table of docs/configuration.md', () => {
  it('has every setting of the classes, in their order, with type and default, and no other', () => {
    expect(documented).toEqual(rowsOf(BrokerSettings));
  });

  it('stands below an example that is accepted', () => {
    const example = /```yaml\n([\s\S]*?)```/.exec(document)?.[1] ?? '';
    const parsed = parseConfiguration(example, { CHECKOUT_TOKEN_SHA256: 'ab'.repeat(32) });
    expect(parsed.merchants.map(({ id }) => id)).toEqual(['shop']);
    expect(parsed.warnings).toEqual([]);
  });
});
