import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  builtinSamples,
  featureSamples,
  formSamples,
  handWrittenSamples,
  type ImportSample,
  layerSamples,
  soleImporterSamples,
} from './import-samples.js';
import { loadRuleTables, root } from '../../architecture/rule-tables.js';
import { refusalsOf } from './sample-tree.js';

const tables = await loadRuleTables();
const samples: readonly ImportSample[] = [
  ...layerSamples(tables),
  ...featureSamples(tables),
  ...soleImporterSamples(tables),
  ...builtinSamples(tables),
  ...formSamples(),
  ...handWrittenSamples(tables),
];
const foldersOf = (kind: string): string[] =>
  readdirSync(join(root, kind), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);

describe('the import boundaries', () => {
  let refusals: Map<string, Set<string>>;

  beforeAll(() => {
    refusals = refusalsOf(samples, tables);
  });

  it.each(tables.rules.map(({ name }) => name))('%s: refuses each import that breaks it', (rule) => {
    const wrong = samples.filter(({ refusedBy }) => refusedBy === rule).map(({ file }) => file);
    expect(wrong).not.toHaveLength(0);
    expect(wrong.filter((file) => refusals.get(file)?.has(rule) !== true)).toEqual([]);
  });

  it('accept each import that the tables allow', () => {
    const right = samples.filter(({ refusedBy }) => refusedBy === undefined).map(({ file }) => file);
    expect(right.length).toBeGreaterThan(50);
    expect(right.filter((file) => refusals.has(file)).map((file) => [file, ...refusals.get(file)!])).toEqual([]);
  });

  it('say in every rule why it is there and what to do instead', () => {
    expect(tables.rules.filter(({ comment }) => !/\w+ \w+ \w+.*\.$/.test(comment ?? ''))).toEqual([]);
  });

  it('give every package of a production install a home', () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const homeless = Object.keys(dependencies).filter((name) => {
      const scope = name.startsWith('@') ? name.split('/')[0]! : name;
      return !(name in tables.soleImporters) && !(scope in tables.soleImporters);
    });
    expect(homeless).toEqual([]);
  });

  it('have a name of its own for every rule', () => {
    const names = tables.rules.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('know every folder of libs and apps', () => {
    expect(Object.keys(tables.libLayers)).toEqual(expect.arrayContaining(foldersOf('libs')));
    expect(Object.keys(tables.appLayers)).toEqual(expect.arrayContaining(foldersOf('apps')));
  });

  it('know every folder of the broker, from the ground up, so that no two of them can need each other', () => {
    const features = Object.entries(tables.brokerFeatures);
    expect(features.map(([feature]) => feature).toSorted()).toEqual(foldersOf('apps/broker/src').toSorted());
    const upward = features.flatMap(([feature, below], index) =>
      below.filter((other) => features.findIndex(([name]) => name === other) >= index).map((other) => [feature, other]),
    );
    expect(upward).toEqual([]);
  });

  it('give no app the name of a lib, so that a rule of one never binds the other', () => {
    expect(foldersOf('apps').filter((app) => foldersOf('libs').includes(app))).toEqual([]);
  });
});
