import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { root, run } from './kubernetes-programs.js';

export { root };
export const folder = join(root, 'deploy', 'kubernetes');

export type Labels = Readonly<Record<string, string>>;
export interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: 'NotIn';
    readonly values: string[];
  }[];
}
export interface Peer {
  readonly podSelector?: Selector;
  readonly namespaceSelector?: Selector;
  readonly ipBlock?: { readonly cidr: string };
}
export interface PortRule {
  readonly protocol: string;
  readonly port: string | number;
}
export interface NetworkRule {
  readonly from?: readonly Peer[];
  readonly to?: readonly Peer[];
  readonly ports?: readonly PortRule[];
}
interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string | number };
}
export interface Container {
  readonly name: string;
  readonly image: string;
  readonly restartPolicy?: string;
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly resources?: { readonly requests?: Labels; readonly limits?: Labels };
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}
interface Items {
  readonly items?: readonly { readonly key: string; readonly path: string }[];
}
export interface Volume {
  readonly name: string;
  readonly configMap?: Items & { readonly name: string };
  readonly secret?: Items & { readonly secretName: string };
  readonly projected?: {
    readonly sources: readonly {
      readonly serviceAccountToken?: { readonly path: string; readonly audience?: string };
      readonly configMap?: Items & { readonly name: string };
      readonly secret?: Items & { readonly name: string };
    }[];
  };
}
export interface PodSpec {
  readonly serviceAccountName?: string;
  readonly restartPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly topologySpreadConstraints?: readonly object[];
  /** Those that are always restarted run alongside the others. */
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Labels;
    readonly annotations?: Labels;
  };
  readonly data?: Labels;
  readonly spec: Spec;
}
/** A rule of an HTTPRoute. */
interface RouteRule {
  readonly retry?: object;
  readonly timeouts?: { readonly request?: string; readonly backendRequest?: string };
  readonly backendRefs: readonly { readonly name: string; readonly port: number }[];
}
/** What is looked at in the specifications of all kinds. */
interface Spec {
  readonly replicas?: number;
  readonly strategy?: { readonly rollingUpdate?: { readonly maxUnavailable: number } };
  readonly selector: Selector & Labels;
  readonly podSelector: Selector;
  readonly policyTypes: readonly string[];
  readonly ingress?: readonly NetworkRule[];
  readonly egress?: readonly NetworkRule[];
  readonly ports: readonly { readonly port: number; readonly targetPort: string }[];
  readonly minReplicas?: number;
  readonly scaleTargetRef: { readonly kind: string; readonly name: string };
  readonly jobLabel: string;
  readonly rules: readonly RouteRule[];
  readonly podMetricsEndpoints: readonly { readonly port: string; readonly path: string }[];
  readonly secretName: string;
  readonly dnsNames: readonly string[];
  readonly target: { readonly name: string };
  readonly data: readonly { readonly secretKey: string }[];
  readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
}

/** @returns what `kubectl apply -k` would send. @throws Error with kubectl's message if it does not render */
export function render(kustomization: string): readonly Manifest[] {
  return parsed(run('kubectl', ['kustomize', kustomization]));
}

/** @returns the objects of a text with several. @throws YAMLParseError if it is not YAML */
export function parsed(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null)
    .map(unwrapped);
}

/** Kustomize wraps lines of base64, which Kubernetes accepts and the published model does not. */
function unwrapped(manifest: Manifest): Manifest {
  if (manifest.kind !== 'Secret') return manifest;
  const data = Object.entries(manifest.data ?? {}).map(([key, value]) => [key, value.replaceAll('\n', '')] as const);
  return { ...manifest, data: Object.fromEntries(data) };
}

export function ofKind(manifests: readonly Manifest[], kind: string): readonly Manifest[] {
  return manifests.filter((manifest) => manifest.kind === kind);
}

/** @throws Error if there is none */
export function named(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = ofKind(manifests, kind).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} "${name}" was rendered`);
  return found;
}

export function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([name, value]) => labels[name] === value) &&
    matchExpressions.every(({ key, values }) => !values.includes(labels[key] ?? ''))
  );
}

/** The Deployments whose pods a selector matches; one without labels matches all of them. */
export function selected(manifests: readonly Manifest[], selector: Selector): readonly Manifest[] {
  return ofKind(manifests, 'Deployment').filter(({ spec }) => selects(selector, spec.template.metadata.labels));
}

/** The minimum number of pods of a Deployment: as its autoscaler says, if it has one. */
export function replicasOf(manifests: readonly Manifest[], { metadata, spec: { replicas = 1 } }: Manifest): number {
  const scalers = ofKind(manifests, 'HorizontalPodAutoscaler');
  const own = scalers.find(({ spec }) => spec.scaleTargetRef.name === metadata.name);
  return own?.spec.minReplicas ?? replicas;
}

export function containersOf({ initContainers = [], containers }: PodSpec): readonly Container[] {
  return [...initContainers, ...containers];
}

/** Objects that are left to others, with their keys: docs/kubernetes.md says that these have to be made. */
export const madeByOthers: ReadonlyMap<string, readonly string[]> = new Map([
  ...[...readFileSync(join(root, 'docs/kubernetes.md'), 'utf8').matchAll(/^\| `([a-z-]+)` +\| (`[^|]+`) +\|$/gm)].map(
    ([, name = '', keys = '']) => [name, keys.replaceAll('`', '').split(/, ?/)] as const,
  ),
  // Made in every namespace by Kubernetes itself.
  ['kube-root-ca.crt', ['ca.crt']] as const,
]);

/** The names under which a ConfigMap or a Secret offers its content, or undefined if nobody makes it. */
export function keysOf(manifests: readonly Manifest[], name: string): readonly string[] | undefined {
  const own = manifests.find(({ kind, metadata }) => /^(ConfigMap|Secret)$/.test(kind) && metadata.name === name);
  if (own !== undefined) return Object.keys(own.data ?? {});
  const external = ofKind(manifests, 'ExternalSecret').find(({ spec }) => spec.target.name === name);
  if (external !== undefined) return external.spec.data.map(({ secretKey }) => secretKey);
  if (ofKind(manifests, 'Certificate').some(({ spec }) => spec.secretName === name)) {
    return ['tls.crt', 'tls.key', 'ca.crt'];
  }
  return madeByOthers.get(name);
}

interface Source {
  readonly of: string;
  readonly items?: Items['items'];
}

export function sourcesOf({ configMap, secret, projected }: Volume): readonly Source[] {
  const maps = [configMap, ...(projected?.sources.flatMap((source) => [source.configMap, source.secret]) ?? [])];
  const sources = maps.flatMap((map) => (map === undefined ? [] : [{ ...map, of: map.name }]));
  return secret === undefined ? sources : [...sources, { ...secret, of: secret.secretName }];
}

/** The files that a volume shows, relative to where it is mounted. */
export function filesOf(manifests: readonly Manifest[], volume: Volume): readonly string[] {
  const tokens = volume.projected?.sources.flatMap((source) => source.serviceAccountToken?.path ?? []) ?? [];
  const content = sourcesOf(volume).flatMap(
    ({ of, items }) => items?.map(({ path }) => path) ?? keysOf(manifests, of) ?? [],
  );
  return [...tokens, ...content];
}
