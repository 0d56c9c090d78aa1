import { dirname, join } from 'node:path';
import {
  type Container,
  containersOf,
  filesOf,
  type Manifest,
  named,
  ofKind,
  type Peer,
  type PodSpec,
  replicasOf,
  selected,
} from './manifests.js';

/** How long closing connections takes, after the time that a program gives to what is in flight. */
const CLOSING_SECONDS = 6;

/** On both IP families, and on one. */
const EVERYWHERE = ['::', '0.0.0.0'];

interface Address {
  readonly host: string;
  readonly port: number;
}

/** What the pod opens and the program does not, or vice versa. */
export function portFaults({ ports = [] }: Container, api: Address, management: Address): readonly string[] {
  const expected = JSON.stringify({ api: api.port, management: management.port });
  const open = JSON.stringify(Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort])));
  const hosts = [api.host, management.host];
  return [
    ...(open === expected ? [] : [`the pod opens ${open}, and the program ${expected}`]),
    ...hosts
      .filter((host) => !EVERYWHERE.includes(host))
      .map((host) => `the program listens on ${host}, which nobody outside the pod reaches`),
    ...hosts.filter((host) => host === '0.0.0.0').map((host) => `the program listens on ${host}, and not by IPv6`),
  ];
}

export const filesNamedBy = ({ files }: { readonly files: readonly { readonly file: string }[] }): readonly string[] =>
  files.map(({ file }) => file);

/** Every file that is read must be in a volume, under the name that it has there. */
export function fileFaults(
  manifests: readonly Manifest[],
  pod: PodSpec,
  configured: readonly string[],
): readonly string[] {
  const mounts = containersOf(pod).flatMap(({ volumeMounts = [] }) => volumeMounts);
  const present = new Set(
    mounts.flatMap(({ name, mountPath }) => {
      const volume = (pod.volumes ?? []).find((one) => one.name === name);
      return volume === undefined ? [] : filesOf(manifests, volume).map((file) => join(mountPath, file));
    }),
  );
  const missing = configured.filter((file) => !present.has(file)).map((file) => `${file} is in no volume`);
  const used = new Set(configured.map((file) => dirname(file)));
  const idle = mounts
    .map(({ mountPath }) => mountPath)
    .filter((path) => path !== '/tmp' && !used.has(path))
    .map((path) => `nothing in ${path} is read`);
  return [...missing, ...idle];
}

interface Rollout {
  /** The minimum. */
  readonly replicas: number;
  /** How long the program waits for what is in flight when it is told to end. */
  readonly stopsWithinMs: number;
}

export function rolloutFaults(
  manifests: readonly Manifest[],
  deployment: Manifest,
  { replicas, stopsWithinMs }: Rollout,
): readonly string[] {
  const { spec, metadata } = deployment;
  const { topologySpreadConstraints = [] } = spec.template.spec;
  const spread = topologySpreadConstraints.map(({ topologyKey }) => topologyKey);
  const budgets = ofKind(manifests, 'PodDisruptionBudget').filter((budget) =>
    selected(manifests, budget.spec.selector).some((one) => one.metadata.name === metadata.name),
  );
  return [
    ...stopFaults(spec.template.spec, stopsWithinMs),
    ...(spec.strategy?.rollingUpdate?.maxUnavailable === 0 ? [] : ['an update takes a replica before it has another']),
    ...(replicasOf(manifests, deployment) >= replicas ? [] : [`there are less than ${replicas} replicas`]),
    ...['kubernetes.io/hostname', 'topology.kubernetes.io/zone']
      .filter((key) => !spread.includes(key))
      .map((key) => `all replicas may be where ${key} is the same`),
    ...topologySpreadConstraints
      .filter(({ matchLabelKeys = [] }) => !matchLabelKeys.includes('pod-template-hash'))
      .map(({ topologyKey }) => `an update spreads its pods over ${topologyKey} as if those it replaces stayed`),
    ...(budgets.length === 1 ? [] : ['no disruption budget is its own']),
  ];
}

/** Endpoints drop the pod while it still listens; after that it has the time that it gives itself. */
function stopFaults(
  { containers, terminationGracePeriodSeconds = 30 }: PodSpec,
  stopsWithinMs: number,
): readonly string[] {
  const listens = containers[0]?.lifecycle?.preStop.sleep.seconds ?? 0;
  const needed = listens + stopsWithinMs / 1_000 + CLOSING_SECONDS;
  return [
    ...(listens > 0 ? [] : ['it ends while it is still being called']),
    ...(terminationGracePeriodSeconds >= needed ? [] : [`it is killed before it has ended: it needs ${needed} s`]),
  ];
}

/** What a program needs to connect to, and no policy lets it reach. */
export function reachFaults(
  manifests: readonly Manifest[],
  deployment: string,
  wanted: readonly URL[],
): readonly string[] {
  return wanted
    .filter((url) => !isLetOut(manifests, deployment, url))
    .map(({ host }) => `no network policy lets it out to ${host}`);
}

const defaultPorts: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80, 'redis:': 6379, 'rediss:': 6379 };

function isLetOut(manifests: readonly Manifest[], deployment: string, url: URL): boolean {
  const port = targetOf(manifests, url);
  const { metadata, spec: pods } = named(manifests, 'Deployment', deployment);
  const own = pods.template.metadata.labels;
  const [service, namespace = metadata.namespace] = serviceOf(url);
  const reaches = ({ podSelector, namespaceSelector, ipBlock }: Peer): boolean =>
    service === undefined
      ? ipBlock !== undefined
      : podSelector?.matchLabels?.['app.kubernetes.io/name'] === service &&
        (namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name'] ?? metadata.namespace) === namespace;
  return ofKind(manifests, 'NetworkPolicy')
    .filter(({ spec }) => spec.podSelector.matchLabels?.['app.kubernetes.io/name'] === own['app.kubernetes.io/name'])
    .flatMap(({ spec }) => spec.egress ?? [])
    .some(
      ({ to = [], ports = [] }) =>
        to.some(reaches) && ports.some((rule) => numberOf(manifests, serviceName(url), rule.port) === port),
    );
}

/** The service by which a host is reached, and its namespace if that is named. The API server is not a pod. */
function serviceOf({ hostname }: URL): readonly [service?: string, namespace?: string] {
  if (!hostname.includes('.')) return [hostname];
  const [, service, namespace] = /^([^.]+)\.([^.]+)\.svc(?:\.|$)/.exec(hostname) ?? [];
  return service === undefined || namespace === undefined || service === 'kubernetes' ? [] : [service, namespace];
}

const serviceName = ({ hostname }: URL): string => hostname.split('.')[0] ?? '';

/** The port of the pods behind a service: policies know no other. */
function targetOf(manifests: readonly Manifest[], url: URL): number | undefined {
  const port = url.port === '' ? defaultPorts[url.protocol] : Number(url.port);
  const service = ofKind(manifests, 'Service').find(
    ({ metadata: { name, namespace } }) => url.hostname === name || url.hostname === `${name}.${String(namespace)}.svc`,
  );
  const target = service?.spec.ports.find((one) => one.port === port)?.targetPort;
  return target === undefined ? port : numberOf(manifests, serviceName(url), target);
}

function numberOf(manifests: readonly Manifest[], service: string, port: string | number): number | undefined {
  if (typeof port === 'number') return port;
  const pods = selected(manifests, { matchLabels: { 'app.kubernetes.io/name': service } });
  return pods
    .flatMap(({ spec }) => spec.template.spec.containers.flatMap(({ ports = [] }) => ports))
    .find(({ name }) => name === port)?.containerPort;
}

/** The dashboard and the alerts know a job by its name, which the Prometheus operator takes from a label. */
export function monitoringFaults(manifests: readonly Manifest[]): readonly string[] {
  return ofKind(manifests, 'PodMonitor').flatMap((monitor) => [
    ...selected(manifests, monitor.spec.selector)
      .filter(({ metadata, spec }) => spec.template.metadata.labels[monitor.spec.jobLabel] !== metadata.name)
      .map(() => 'the job has another name in the alerts'),
    ...monitor.spec.podMetricsEndpoints
      .filter(({ port, path }) => port !== 'management' || path !== '/metrics')
      .map(({ port, path }) => `there are no metrics on ${port}${path}`),
  ]);
}
