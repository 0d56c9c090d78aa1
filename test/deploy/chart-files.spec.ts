import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv, type ValidateFunction } from 'ajv';
import { parse } from 'yaml';

const root = join(import.meta.dirname, '..', '..');

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
}

const chart = join(root, 'deploy/helm/session-broker');
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const schema = JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')) as Schema;
const values = (): Record<string, unknown> => parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as never;

/** Each object of the values with a fixed list of members, as the names that lead to it. */
function closedObjects({ properties = {} }: Schema, path: readonly string[] = []): readonly (readonly string[])[] {
  const inner = Object.entries(properties)
    .filter(([, member]) => member.properties !== undefined)
    .flatMap(([name, member]) => closedObjects(member, [...path, name]));
  return [path, ...inner];
}

/** The paths of all values; an object that is itself a value, such as labels, counts as one. */
function valuesOf(value: unknown, path: readonly string[] = []): readonly string[] {
  const described = path.reduce((outer, name) => outer.properties?.[name] ?? {}, schema);
  if (described.properties === undefined) return [path.join('.')];
  return Object.entries(value as object).flatMap(([name, member]) => valuesOf(member, [...path, name]));
}

/** The path itself and those of the objects around it, except the outermost, which covers too many values at once. */
function prefixesOf(path: string): readonly string[] {
  const names = path.split('.');
  return names.map((_, index) => names.slice(0, index + 1).join('.')).slice(names.length > 1 ? 1 : 0);
}

function membersOf(value: unknown, path: readonly string[]): Record<string, unknown> {
  return path.reduce<unknown>((outer, name) => (outer as Record<string, unknown>)[name], value) as never;
}

describe('the files of the chart', () => {
  const refuses: ValidateFunction = new Ajv({ strict: false }).compile(schema);

  it('have the rules and the dashboard that are tested elsewhere', () => {
    const copy = (name: string): string => readFileSync(join(chart, 'files', name), 'utf8');
    expect(copy('rules.yml')).toBe(textOf('deploy/prometheus/rules/session-broker.yml'));
    expect(copy('dashboard.json')).toBe(textOf('deploy/grafana/dashboards/session-broker.json'));
  });

  it('render the same wherever and whenever they are rendered', () => {
    const templates = readdirSync(join(chart, 'templates')).map((name) => [
      name,
      readFileSync(join(chart, 'templates', name), 'utf8'),
    ]);
    expect(templates.length).toBeGreaterThan(10);
    const elsewhere = /\b(?:lookup|now|getHostByName|rand\w+|gen\w+|uuidv4|derivePassword|\.Capabilities)\b/;
    expect(templates.filter(([, text = '']) => elsewhere.test(text.replaceAll(/{{\/\*[^]*?\*\/}}|#.*/g, '')))).toEqual(
      [],
    );
  });

  it('have each value, or the object that it is in, in the table of the reference', () => {
    const table = textOf('docs/reference/chart-values.md')
      .split('\n')
      .filter((line) => line.startsWith('| '));
    const listed = new Set(
      table.flatMap((row) => [...row.matchAll(/`([\w.]+)(?:: [^`]+)?`/g)].map(([, name = '']) => name)),
    );
    expect(valuesOf(values()).filter((path) => !prefixesOf(path).some((prefix) => listed.has(prefix)))).toEqual([]);
    const known = new Set(valuesOf(values()).flatMap((path) => prefixesOf(path)));
    const written = [...listed].filter((name) => Object.keys(values()).some((object) => name.startsWith(`${object}.`)));
    expect(written.filter((name) => !known.has(name))).toEqual([]);
  });

  it('take their own values', () => {
    expect([refuses(values()), refuses.errors]).toEqual([true, null]);
  });

  it.each(closedObjects(schema).map((path) => [path.join('.') || 'the values as a whole', path] as const))(
    'take nothing unknown in %s, and have a default for each member of it',
    (_name, path) => {
      const changed = values();
      const members = membersOf(changed, path);
      const described = path.reduce((outer, name) => outer.properties?.[name] ?? {}, schema);
      const listed = Object.keys(described.properties ?? {}).filter((name) => name !== 'global' && name !== 'cpu');
      expect(Object.keys(members).filter((name) => name !== 'cpu')).toEqual(expect.arrayContaining(listed));
      members['unknown'] = 'value';
      expect(refuses(changed)).toBe(false);
      expect(refuses.errors).toContainEqual(expect.objectContaining({ keyword: 'additionalProperties' }));
    },
  );

  it.each([
    ['broker', 'replicas', '3'],
    ['image', 'digest', 'sha256:short'],
    ['service', 'ipFamilyPolicy', 'Both'],
    ['broker', 'merchants', ['Shop']],
    ['broker', 'merchants', ['s'.repeat(55)]],
    ['network', 'nodeLocalDns', ['169.254.20.10']],
    ['egress', 'terminationGracePeriodSeconds', 5],
  ])('refuse a wrong %s.%s', (object, member, value) => {
    const changed = values();
    membersOf(changed, [object])[member] = value;
    expect(refuses(changed)).toBe(false);
  });
});
