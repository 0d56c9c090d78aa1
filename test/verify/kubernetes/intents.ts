import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, run } from './kubernetes-programs.js';
import { folder, type Manifest, parsed, render } from './manifests.js';
import { blockOf, withEgressPolicies } from './page-blocks.js';
import { prepareDemo } from './prepare-demo.js';

export const chart = join(root, 'deploy/helm/session-broker');

/** Members of the chart's values, without those at their defaults. */
export type Values = Readonly<Record<string, unknown>>;

/** What the chart demands, for whoever asks for something else. */
const DEMANDED: Values = {
  image: { repository: 'session-broker' },
  broker: { configuration: 'http: {}\n' },
  egress: { configuration: 'listen: {}\n' },
  network: { gateway: { cidrs: ['203.0.113.0/24'] } },
};

/** The folders of deploy/kubernetes with what the chart makes of the values in them, and their namespaces. */
const WRITTEN = {
  production: 'session-broker',
  'production-mtls': 'session-broker',
  demo: 'session-broker-demo',
} as const;

/** Each of these passes every check. */
export const INTENTS = ['production', 'production-mtls', 'demo', 'production, with every option'] as const;
type IntentName = (typeof INTENTS)[number];
type Rendered = Readonly<Record<IntentName, readonly Manifest[]>>;

interface RenderedIntents {
  readonly intents: Rendered;
  readonly consumer: readonly Manifest[];
  readonly sidecar: readonly Manifest[];
  readonly doctor: readonly Manifest[];
  /** What the script that prepares the demo printed. */
  readonly prepared: string;
}

/** @returns what `npm run manifests` writes, by the path in deploy/kubernetes */
export function writtenManifests(): Readonly<Record<string, string>> {
  const texts = Object.entries(WRITTEN).map(([intent, namespace]) => {
    const values = [{ namespace: { create: true } }];
    return [intent, documentsOf(templateText(namespace, [valuesOf(intent)], values))] as const;
  });
  const isRule = (document: string): boolean => document.includes('\nkind: PrometheusRule\n');
  // The kustomization takes them from deploy/grafana, and from the folder itself.
  const isConfigMap = (document: string): boolean => document.includes('\nkind: ConfigMap\n');
  const isDoctor = (document: string): boolean => document.includes('\nkind: Pod\n');
  const isOwn = (document: string): boolean => ![isRule, isConfigMap, isDoctor].some((is) => is(document));
  const [[, ofFirst] = ['', []]] = texts;
  const folders = [
    ...texts.map(([intent, documents]) => [intent, documents.filter(isOwn)] as const),
    ['monitoring', ofFirst.filter(isRule)] as const,
    ['examples/doctor', ofFirst.filter(isDoctor)] as const,
  ];
  return Object.fromEntries(
    folders.map(([intent, documents]) => [
      `${intent}/manifests.yaml`,
      ['# Written by `npm run manifests` from deploy/helm/session-broker.\n', ...documents].join('---\n'),
    ]),
  );
}

export const valuesOf = (intent: string): string => join(folder, intent, 'values.yaml');

/** The objects of a text, without what is only true of a release of Helm. */
function documentsOf(text: string): readonly string[] {
  return text
    .replaceAll(/^ +(?:app\.kubernetes\.io\/(?:instance|managed-by)|helm\.sh\/chart): .*\n/gm, '')
    .replaceAll(/^ +annotations:(?: \{ |\n +#.*\n +)helm\.sh\/.*\n/gm, '')
    .split(/^---\n/m)
    .filter((document) => document.trim() !== '');
}

/** Rendered from a copy: the demo's keys are made there, and what no folder has is tried on it. */
export function renderIntents(): RenderedIntents {
  const copy = mkdtempSync(join(tmpdir(), 'kubernetes-'));
  try {
    cpSync(join(root, 'deploy'), copy, { recursive: true });
    const at = (path: string): string => join(copy, 'kubernetes', path);
    const prepared = prepareDemo(at('demo'));
    mkdirSync(at('optional'));
    const text = templateText('session-broker', [valuesOf('production')], [options()]);
    writeFileSync(at('optional/manifests.yaml'), text);
    writeFileSync(at('optional/kustomization.yaml'), 'resources: [manifests.yaml]');
    return {
      intents: {
        production: render(at('production')),
        'production-mtls': render(at('production-mtls')),
        demo: render(at('demo')),
        'production, with every option': render(at('optional')),
      },
      consumer: render(at('examples/consumer')),
      sidecar: render(at('examples/egress-sidecar')),
      doctor: render(at('examples/doctor')),
      prepared,
    };
  } finally {
    rmSync(copy, { recursive: true });
  }
}

/** Everything optional that goes with the production that knows its callers by their pods' tokens. */
export function options(): Values {
  const textOf = (path: string): string => throughProxy(readFileSync(join(folder, path), 'utf8'));
  const broker = changed(textOf('production/broker.yaml'), withEgressPolicies);
  const egress = changed(textOf('production-mtls/egress.yaml'), byToken);
  return {
    namespace: { create: true },
    image: { pullSecrets: ['registry'] },
    priorityClass: { name: 'session-broker', create: true },
    broker: { configuration: broker, autoscaling: { enabled: true } },
    network: { gateway: { proxy: { enabled: true } }, redis: { cidrs: ['198.51.100.0/24'] } },
    egress: {
      enabled: true,
      configuration: egress,
      route: {
        enabled: true,
        parentRefs: [{ name: 'internal', namespace: 'gateways', sectionName: 'https' }],
        hostnames: ['payments.internal.example'],
        from: { podLabels: { 'gateway.networking.k8s.io/gateway-name': 'internal' } },
      },
    },
  };
}

/** @returns the objects in the order of Helm, of what is demanded, the files and the values. @throws Error with Helm's message if it does not render */
export function template(namespace: string, files: readonly string[], values: readonly Values[]): readonly Manifest[] {
  return parsed(templateText(namespace, files, values));
}

function templateText(namespace: string, files: readonly string[], values: readonly Values[]): string {
  const written = mkdtempSync(join(tmpdir(), 'chart-'));
  try {
    const [demanded = '', ...own] = [DEMANDED, ...values].map((one, index) => {
      const file = join(written, `${index}.json`);
      writeFileSync(file, JSON.stringify(one));
      return file;
    });
    const args = [demanded, ...files, ...own].flatMap((file) => ['--values', file]);
    return run('helm', ['template', 'session-broker', chart, '--namespace', namespace, ...args]);
  } finally {
    rmSync(written, { recursive: true });
  }
}

function changed(text: string, change: (text: string) => string): string {
  const other = change(text);
  if (other === text) throw new Error('the configuration stays as it is');
  return other;
}

/** As the value `network.gateway.proxy` asks. */
function throughProxy(configuration: string): string {
  const proxy = "{ baseUrl: 'https://gateway.example', proxy: 'http://egress-proxy.egress-proxy.svc:3128'";
  return changed(configuration, (text) => text.replace("{ baseUrl: 'https://gateway.example'", proxy));
}

/** As docs/kubernetes.md has it of an egress without certificates. */
function byToken(configuration: string): string {
  const broker = blockOf('An egress', 'yaml', 'tokenFile').replaceAll(/^/gm, '  ');
  return configuration.replace(/^ {2}broker:\n(?: {4}.*\n)+/m, `${broker}\n`);
}
