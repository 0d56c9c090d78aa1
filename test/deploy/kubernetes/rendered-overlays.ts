import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '../../interop/availability.js';
import { type Manifest, render, root } from './manifests.js';
import { prepareDemo } from './prepare-demo.js';

export const kubectl = program('kubectl', ['kubectl', 'version', '--client'], 'install kubectl 1.30 or newer');

const SCALED = 'overlays/production, with autoscaling';
const COMMITTED = [
  'overlays/demo',
  'overlays/production',
  'overlays/production-mtls',
  'overlays/production-egress',
] as const;
export const OVERLAYS = [...COMMITTED, SCALED] as const;
export type OverlayName = (typeof OVERLAYS)[number];

export interface RenderedOverlays {
  readonly overlays: Readonly<Record<OverlayName, readonly Manifest[]>>;
  readonly consumer: readonly Manifest[];
  readonly sidecar: readonly Manifest[];
  /** What the script that prepares the demo has printed. */
  readonly prepared: string;
}

/** Rendered from a copy: the demo's keys are made there, and the autoscaler is tried on the production overlay. */
export function renderOverlays(): RenderedOverlays {
  const copy = mkdtempSync(join(tmpdir(), 'kubernetes-'));
  try {
    cpSync(join(root, 'deploy'), copy, { recursive: true });
    const at = (path: string): string => join(copy, 'kubernetes', path);
    const prepared = prepareDemo(at('overlays/demo'));
    const [demo, production, mtls, egress] = COMMITTED.map((name) => render(at(name)));
    const file = at('overlays/production/kustomization.yaml');
    const text = readFileSync(file, 'utf8').replace('components: [', 'components: [../../components/autoscaling, ');
    writeFileSync(file, text);
    const overlays = {
      'overlays/demo': demo ?? [],
      'overlays/production': production ?? [],
      'overlays/production-mtls': mtls ?? [],
      'overlays/production-egress': egress ?? [],
      [SCALED]: render(at('overlays/production')),
    };
    const [consumer, sidecar] = ['examples/consumer', 'examples/egress-sidecar'].map((name) => render(at(name)));
    return { overlays, consumer: consumer ?? [], sidecar: sidecar ?? [], prepared };
  } finally {
    rmSync(copy, { recursive: true });
  }
}
