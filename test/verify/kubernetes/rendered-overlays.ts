import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './kubernetes-programs.js';
import { type Manifest, render } from './manifests.js';
import { normalised } from './normalised-manifests.js';
import { withEgressPolicies } from './page-blocks.js';
import { prepareDemo } from './prepare-demo.js';

/** What Kustomize renders as a whole: each of these passes every check. */
export const OVERLAYS = [
  'overlays/demo',
  'overlays/production',
  'overlays/production-mtls',
  'overlays/production-egress',
  'overlays/production, with autoscaling',
  'overlays/production-egress, with every option',
] as const;
/** Not complete: nothing says what the broker is to do. */
export const PARTS = ['base', 'base, with monitoring'] as const;
export type OverlayName = (typeof OVERLAYS)[number];
export type IntentName = OverlayName | (typeof PARTS)[number];
export type Rendered = Readonly<Record<IntentName, readonly Manifest[]>>;

export interface RenderedOverlays {
  readonly overlays: Rendered;
  readonly consumer: readonly Manifest[];
  readonly sidecar: readonly Manifest[];
  readonly doctor: readonly Manifest[];
  /** What the script that prepares the demo printed. */
  readonly prepared: string;
}

const PROXY = "{ baseUrl: 'https://gateway.example', proxy: 'http://egress-proxy.egress-proxy.svc:3128'";

/** Rendered from a copy: the demo's keys are made there, and variants that no overlay has are tried on it. */
export function renderOverlays(): RenderedOverlays {
  const copy = mkdtempSync(join(tmpdir(), 'kubernetes-'));
  try {
    cpSync(join(root, 'deploy'), copy, { recursive: true });
    const at = (path: string): string => join(copy, 'kubernetes', path);
    const rendered = (path: string): readonly Manifest[] => normalised(render(at(path)));
    const prepared = prepareDemo(at('overlays/demo'));
    const overlays = {
      base: rendered('base'),
      'overlays/demo': rendered('overlays/demo'),
      'overlays/production': rendered('overlays/production'),
      'overlays/production-mtls': rendered('overlays/production-mtls'),
    };
    withComponents(at('monitored'), ['../base'], ['monitoring']);
    withComponents(at('scaled'), ['../overlays/production'], ['autoscaling']);
    const scaled = rendered('scaled');
    change(at('overlays/production/broker.yaml'), withEgressPolicies);
    const withEgress = rendered('overlays/production-egress');
    for (const file of ['production/broker.yaml', 'production-egress/egress.yaml']) {
      change(at(`overlays/${file}`), throughProxy);
    }
    withComponents(
      at('optional'),
      ['../overlays/production-egress'],
      ['autoscaling', 'priority', 'fixed-address', 'gateway-api', 'redis-outside', 'private-registry'],
    );
    return {
      overlays: {
        ...overlays,
        'base, with monitoring': rendered('monitored'),
        'overlays/production, with autoscaling': scaled,
        'overlays/production-egress': withEgress,
        'overlays/production-egress, with every option': rendered('optional'),
      },
      consumer: rendered('examples/consumer'),
      sidecar: rendered('examples/egress-sidecar'),
      doctor: rendered('examples/doctor'),
      prepared,
    };
  } finally {
    rmSync(copy, { recursive: true });
  }
}

function withComponents(kustomization: string, resources: readonly string[], components: readonly string[]): void {
  mkdirSync(kustomization);
  const text = {
    namespace: 'session-broker',
    labels: [{ pairs: { 'app.kubernetes.io/part-of': 'session-broker' } }],
    resources,
    components: components.map((name) => `../components/${name}`),
  };
  writeFileSync(join(kustomization, 'kustomization.yaml'), JSON.stringify(text));
}

/** As the fixed-address component asks. */
function throughProxy(configuration: string): string {
  return configuration.replace("{ baseUrl: 'https://gateway.example'", PROXY);
}

function change(file: string, changed: (text: string) => string): void {
  const text = readFileSync(file, 'utf8');
  if (changed(text) === text) throw new Error(`${file} stays as it is`);
  writeFileSync(file, changed(text));
}
