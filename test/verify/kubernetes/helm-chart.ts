import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run } from './kubernetes-programs.js';
import { type Manifest, named, parsed } from './manifests.js';
import { normalised } from './normalised-manifests.js';
import { type IntentName, OVERLAYS, PARTS, type Rendered } from './rendered-overlays.js';

export const chart = join(root, 'deploy/helm/session-broker');
const examples = join(root, 'deploy/helm/examples');

/** Members of the values, without those at their defaults. */
export type Values = Readonly<Record<string, unknown>>;

interface Intent {
  /** Files of deploy/helm/examples. */
  readonly examples: readonly string[];
  readonly values?: Values;
}

/**
 * What tells Helm the same as an overlay tells Kustomize, except for the configuration, which is the overlay's, and the
 * namespace, which every overlay makes.
 */
const intents: Readonly<Record<IntentName, Intent>> = {
  base: { examples: [] },
  'base, with monitoring': { examples: [], values: { monitoring: { enabled: true } } },
  'overlays/demo': { examples: [] },
  'overlays/production': { examples: ['production'] },
  'overlays/production-mtls': { examples: ['production-mtls'] },
  'overlays/production-egress': { examples: ['production', 'egress'] },
  'overlays/production, with autoscaling': {
    examples: ['production'],
    values: { broker: { autoscaling: { enabled: true } } },
  },
  'overlays/production-egress, with every option': { examples: ['production', 'egress', 'options'] },
};

/** @returns what Helm renders for each intent, with the configuration of the Kustomize overlay */
export function renderChart(overlays: Rendered): Rendered {
  const rendered = [...PARTS, ...OVERLAYS].map((name) => {
    const { examples: files, values = {} } = intents[name];
    const namespace = name === 'overlays/demo' ? 'session-broker-demo' : 'session-broker';
    const paths = files.map((file) => join(examples, `${file}.yaml`));
    const more = [
      { namespace: { create: true } },
      values,
      configurationsOf(overlays[name]),
      ...(name === 'overlays/demo' ? [demoOf(overlays)] : []),
    ];
    return [name, template(namespace, paths, more)] as const;
  });
  return Object.fromEntries(rendered) as Rendered;
}

/** @throws Error with Helm's message if it does not render */
export function template(namespace: string, files: readonly string[], values: readonly Values[]): readonly Manifest[] {
  const folder = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    const written = values.map((one, index) => {
      const file = join(folder, `${index}.json`);
      writeFileSync(file, JSON.stringify(one));
      return file;
    });
    const args = [...files, ...written].flatMap((file) => ['--values', file]);
    const text = run('helm', ['template', 'session-broker', chart, '--namespace', namespace, ...args]);
    return normalised(parsed(text));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function configurationsOf(manifests: readonly Manifest[]): Values {
  const found = ['broker', 'egress'].flatMap((program) => {
    const file = `${program}.yaml`;
    const text = manifests.find(({ kind, data }) => kind === 'ConfigMap' && data?.[file] !== undefined)?.data?.[file];
    return text === undefined ? [] : [[program, { configuration: text }] as const];
  });
  return Object.fromEntries(found);
}

/** The demo also has Redis, a simulated gateway and Secrets: they are not part of the chart, but pass through it. */
function demoOf(overlays: Rendered): Values {
  const own = new Set([...overlays.base, named(overlays['overlays/demo'], 'ConfigMap', 'session-broker')].map(placeOf));
  const namespaces = overlays['overlays/demo'].filter(({ kind }) => kind === 'Namespace').map(placeOf);
  const extraObjects = overlays['overlays/demo'].filter(
    (manifest) => !own.has(placeOf(manifest)) && !namespaces.includes(placeOf(manifest)),
  );
  return { extraObjects };
}

const placeOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.name}`;
