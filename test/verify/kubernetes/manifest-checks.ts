import { fail } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseConfiguration, parseEgressConfiguration } from '#libs/configuration';
import {
  type Container,
  containersOf,
  filesOf,
  keysOf,
  type Manifest,
  named,
  ofKind,
  type Peer,
  type PodSpec,
  replicasOf,
  root,
  selected,
  type Selector,
  selects,
  sourcesOf,
} from './manifests.js';

type BrokerConfiguration = ReturnType<typeof parseConfiguration>;
type EgressConfiguration = ReturnType<typeof parseEgressConfiguration>;
type Check = (manifests: readonly Manifest[]) => void;

/** What all that is installed must pass. */
export const allChecks = {
  wiring: expectWired,
  hardening: expectHardened,
  network: expectClosedNetwork,
  broker: expectBroker,
  egress: expectEgress,
  environment: expectReadEnvironment,
} as const satisfies Readonly<Record<string, Check>>;

/** Whatever an object names is there: pods, their ports, volumes with their entries, accounts. */
function expectWired(manifests: readonly Manifest[]): void {
  for (const manifest of manifests) {
    const selector = selectorOf(manifest);
    if (selector === undefined) continue;
    const { kind, metadata } = manifest;
    const found = selected(manifests, selector).map((one) => one.metadata.name);
    const expected = kind === 'Deployment' ? [metadata.name] : expect.arrayContaining([expect.any(String)]);
    expect([kind, metadata.name, found]).toEqual([kind, metadata.name, expected]);
  }
  const pods = ofKind(manifests, 'Deployment').map(({ spec }) => spec.template.spec);
  const ports = pods.flatMap(containersOf).flatMap((container) => container.ports?.map(({ name }) => name) ?? []);
  const namedPorts = [...JSON.stringify(manifests).matchAll(/"(?:port|targetPort)":"([^"]+)"/g)];
  expect(namedPorts.map(([, name = '']) => name).filter((name) => !ports.includes(name))).toEqual([]);
  const accounts = ofKind(manifests, 'ServiceAccount').map(({ metadata }) => metadata.name);
  for (const pod of pods) {
    const { serviceAccountName, volumes = [] } = pod;
    const mounts = containersOf(pod).flatMap(({ volumeMounts = [] }) => volumeMounts);
    expect(new Set(mounts.map(({ name }) => name))).toEqual(new Set(volumes.map(({ name }) => name)));
    for (const { of, items = [] } of volumes.flatMap(sourcesOf)) {
      const keys = keysOf(manifests, of) ?? fail(`nobody makes ${of}`);
      expect([of, keys]).toEqual([of, expect.arrayContaining(items.map(({ key }) => key))]);
    }
    if (serviceAccountName !== undefined) expect(accounts).toContain(serviceAccountName);
  }
}

function selectorOf({ kind, spec }: Manifest): Selector | undefined {
  if (kind === 'Service') return { matchLabels: spec.selector };
  if (kind === 'NetworkPolicy') return spec.podSelector;
  return /^(Deployment|PodDisruptionBudget|PodMonitor)$/.test(kind) ? spec.selector : undefined;
}

/** Shares something of its node, takes a secret from its environment, or shows a file that is never updated. */
const LAX = /"(?:host(?:Network|PID|IPC|Path)|shareProcessNamespace|privileged|envFrom|valueFrom|subPath)":/;

/** The "restricted" Pod Security Standard, and our own rules. */
function expectHardened(manifests: readonly Manifest[]): void {
  for (const { spec } of ofKind(manifests, 'Deployment')) {
    const pod = spec.template.spec;
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    for (const id of ['runAsUser', 'runAsGroup', 'fsGroup']) {
      expect(Number(pod.securityContext?.[id])).toBeGreaterThan(10_000);
    }
    expect(JSON.stringify(pod)).not.toMatch(LAX);
    for (const container of containersOf(pod)) expectHardenedContainer(container);
  }
  for (const { metadata } of ofKind(manifests, 'Namespace')) {
    expect(metadata.labels).toMatchObject({
      'pod-security.kubernetes.io/enforce': 'restricted',
      'pod-security.kubernetes.io/enforce-version': expect.stringMatching(/^v1\.\d+$/) as string,
    });
  }
}

function expectHardenedContainer(container: Container): void {
  const { image, securityContext, resources, ports, volumeMounts = [] } = container;
  expect(image).toMatch(/:\d+(\.\d+)+$|@sha256:[0-9a-f]{64}$/);
  expect(securityContext).toMatchObject({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true });
  expect(securityContext?.['capabilities']).toEqual({ drop: ['ALL'] });
  const memory = resources?.requests?.['memory'] ?? 'as much as it may have';
  expect(resources).toMatchObject({
    requests: { cpu: expect.anything() as string },
    limits: { memory, 'ephemeral-storage': expect.anything() as string },
  });
  const probed = { livenessProbe: expect.anything() as object, readinessProbe: expect.anything() as object };
  if (ports !== undefined) expect(container).toMatchObject(probed);
  const writable = volumeMounts.filter(({ readOnly }) => readOnly !== true).map(({ mountPath }) => mountPath);
  expect(writable.filter((path) => path !== '/tmp')).toEqual([]);
}

/** Nothing is left open to or from our pods, and nobody else is shut out. */
function expectClosedNetwork(manifests: readonly Manifest[]): void {
  const policies = ofKind(manifests, 'NetworkPolicy');
  const isForAll = (selector: Selector | undefined): boolean => selector === undefined || selects(selector, {});
  expect(policies.filter(({ spec }) => isForAll(spec.podSelector)).map(({ metadata }) => metadata.name)).toEqual([]);
  for (const { metadata, spec } of ofKind(manifests, 'Deployment')) {
    const own = policies.filter((policy) => selects(policy.spec.podSelector, spec.template.metadata.labels));
    const types = new Set(own.flatMap((policy) => policy.spec.policyTypes));
    expect([metadata.name, types]).toEqual([metadata.name, new Set(['Ingress', 'Egress'])]);
  }
  for (const { metadata, spec } of policies) {
    for (const { from, to, ports = [] } of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
      const peers = from ?? to ?? [];
      const open = peers.filter(({ ipBlock, podSelector }) =>
        ipBlock === undefined ? isForAll(podSelector) : Number(ipBlock.cidr.split('/')[1]) < 16,
      );
      expect([metadata.name, peers.length > 0, ports.length > 0, open]).toEqual([metadata.name, true, true, []]);
    }
  }
}

/** Read by OpenTelemetry's SDK and by Node.js itself. */
const READ_BY_LIBRARIES = /^(?:OTEL_[A-Z_]+|NODE_OPTIONS)$/;

/** Each variable that a pod sets is read by its program. */
function expectReadEnvironment(manifests: readonly Manifest[]): void {
  const containers = ofKind(manifests, 'Deployment').flatMap(({ spec }) => containersOf(spec.template.spec));
  for (const program of ['broker', 'sandbox', 'egress']) {
    const folder = join(root, 'apps', program, 'src');
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /(?<!spec)\.ts$/.test(name),
    );
    const text = sources.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
    const set = containers.filter(({ name }) => name === program).flatMap(({ env = [] }) => env);
    const unread = set.filter(({ name }) => !text.includes(`environment['${name}']`) && !READ_BY_LIBRARIES.test(name));
    expect(unread).toEqual([]);
  }
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** What a program does by its configuration. */
interface Program {
  readonly name: string;
  readonly api: Address;
  readonly management: Address;
  readonly reads: readonly string[];
  readonly connectsTo: readonly URL[];
  readonly replicas: number;
  /** How long it waits for what is in flight when it is told to end. */
  readonly stopsWithinMs: number;
}

function expectBroker(manifests: readonly Manifest[]): void {
  const configuration = brokerConfigurationOf(manifests);
  const { http, management, store, merchants, auth } = configuration;
  const redis = store.url === undefined ? [] : [new URL(store.url)];
  const issuer = auth.jwt?.jwksUri === undefined ? [] : [auth.jwt.jwksUri];
  expectInstalled(manifests, {
    name: 'session-broker',
    api: http,
    management,
    reads: [...filesNamedBy(configuration), '/etc/session-broker/broker.yaml'],
    connectsTo: [...redis, ...merchants.map(({ gateway }) => gateway.proxy ?? gateway.baseUrl), ...issuer],
    replicas: 3,
    stopsWithinMs: graceMs('apps/broker/src/run-broker.ts'),
  });
  // The dashboard and the alerts know a job by its name, which the Prometheus operator takes from a label.
  for (const { spec } of ofKind(manifests, 'PodMonitor')) {
    for (const { metadata, spec: pods } of selected(manifests, spec.selector)) {
      expect(pods.template.metadata.labels[spec.jobLabel]).toBe(metadata.name);
    }
    expect(spec.podMetricsEndpoints).toMatchObject([{ port: 'management', path: '/metrics' }]);
  }
}

/** What a request through the egress needs from the broker. */
const NEEDED = ['session:read', 'session:reject', 'payload:decrypt'] as const;

function expectEgress(manifests: readonly Manifest[]): void {
  const name = 'session-egress';
  if (ofKind(manifests, 'Deployment').every(({ metadata }) => metadata.name !== name)) return;
  const { containers, serviceAccountName, volumes = [] } = podOf(manifests, name);
  const configuration = egressConfigurationOf(named(manifests, 'ConfigMap', name), containers[0]!);
  const { listen, management, broker, gateway, clients } = configuration;
  expectInstalled(manifests, {
    name,
    api: listen,
    management,
    reads: [...filesNamedBy(configuration), EGRESS_FILE],
    connectsTo: [broker.url, gateway.proxy ?? gateway.baseUrl],
    replicas: 2,
    stopsWithinMs: gateway.timeoutMs + graceMs('apps/egress/src/egress.ts'),
  });
  expect(containers).toHaveLength(1);
  // The broker knows it by its certificate, or by its account.
  const isByToken = broker.tls?.certFile === undefined;
  const { auth } = brokerConfigurationOf(manifests);
  const certificate = ofKind(manifests, 'Certificate').find(({ spec }) => spec.secretName === 'session-egress-tls');
  const account = `system:serviceaccount:session-broker:${String(serviceAccountName)}`;
  const caller = isByToken ? account : certificate?.spec.dnsNames[0];
  const tokens = volumes.flatMap(({ projected }) => projected?.sources.map((one) => one.serviceAccountToken) ?? []);
  if (isByToken) expect(tokens.map((token) => token?.audience)).toEqual([auth.jwt?.audience]);
  for (const { merchant } of clients) {
    const own = auth.policies.filter((policy) => policy.caller === caller && policy.merchants.includes(merchant));
    const allowed = own.flatMap(({ allow }) => allow);
    expect([merchant, allowed]).toEqual([merchant, expect.arrayContaining([...NEEDED])]);
  }
}

/** How long closing connections takes, after the time that a program gives to what is in flight. */
const CLOSING_SECONDS = 6;

/** What is rendered is what the program reads, opens, answers and needs, and an update or a lost node ends nothing. */
function expectInstalled(manifests: readonly Manifest[], program: Program): void {
  const { name, api, management } = program;
  const deployment = named(manifests, 'Deployment', name);
  const pod = deployment.spec.template.spec;
  const { ports, lifecycle, startupProbe, livenessProbe, readinessProbe } = pod.containers[0]!;
  expect(ports).toMatchObject([
    { name: 'api', containerPort: api.port },
    { name: 'management', containerPort: management.port },
  ]);
  expect([startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet)).toEqual(
    ['/livez', '/livez', '/readyz'].map((path) => ({ path, port: 'management' })),
  );
  // Both IP families.
  expect([api.host, management.host]).toEqual(['::', '::']);
  expectFiles(manifests, pod, program.reads);
  expect(program.connectsTo.filter((url) => !isLetOut(manifests, name, url)).map(({ host }) => host)).toEqual([]);
  expect(deployment.spec.strategy?.rollingUpdate?.maxUnavailable).toBe(0);
  expect(replicasOf(manifests, deployment)).toBeGreaterThanOrEqual(program.replicas);
  // Of one revision: an update does not spread its pods as if those it replaces stayed.
  expect(pod.topologySpreadConstraints).toMatchObject(
    ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
      topologyKey,
      matchLabelKeys: ['pod-template-hash'],
    })),
  );
  const budgets = ofKind(manifests, 'PodDisruptionBudget').map(({ spec }) => selected(manifests, spec.selector));
  expect(budgets.filter((pods) => pods.includes(deployment))).toHaveLength(1);
  // Endpoints drop the pod while it still listens; after that it has the time that it gives itself.
  const listens = lifecycle?.preStop.sleep.seconds ?? 0;
  expect(listens).toBeGreaterThan(0);
  const needed = listens + program.stopsWithinMs / 1_000 + CLOSING_SECONDS;
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(needed);
}

/** Every file that is read is in a volume, under the name that it has there, and no volume is for nothing. */
export function expectFiles(manifests: readonly Manifest[], pod: PodSpec, read: readonly string[]): void {
  const mounts = containersOf(pod).flatMap(({ volumeMounts = [] }) => volumeMounts);
  const present = mounts.flatMap(({ name, mountPath }) => {
    const volume = (pod.volumes ?? []).find((one) => one.name === name);
    return volume === undefined ? [] : filesOf(manifests, volume).map((file) => join(mountPath, file));
  });
  expect(read.filter((file) => !present.includes(file))).toEqual([]);
  const paths = mounts.map(({ mountPath }) => mountPath).filter((path) => path !== '/tmp');
  expect(new Set(paths)).toEqual(new Set(read.map((file) => dirname(file))));
}

export const filesNamedBy = ({ files }: { readonly files: readonly { readonly file: string }[] }): readonly string[] =>
  files.map(({ file }) => file);

export function podOf(manifests: readonly Manifest[], deployment: string): PodSpec {
  return named(manifests, 'Deployment', deployment).spec.template.spec;
}

/** @throws ConfigurationError if the broker would not accept what is mounted for it */
export function brokerConfigurationOf(manifests: readonly Manifest[]): BrokerConfiguration {
  const [container] = podOf(manifests, 'session-broker').containers;
  expect(container?.env).toContainEqual({ name: 'BROKER_CONFIG', value: '/etc/session-broker/broker.yaml' });
  return parseConfiguration(named(manifests, 'ConfigMap', 'session-broker').data?.['broker.yaml'] ?? '', {});
}

const EGRESS_FILE = '/etc/session-egress/egress.yaml';

/** @throws ConfigurationError if the egress would not accept what is mounted for it */
export function egressConfigurationOf({ data = {} }: Manifest, container: Container): EgressConfiguration {
  expect(container.env).toContainEqual({ name: 'EGRESS_CONFIG', value: EGRESS_FILE });
  return parseEgressConfiguration(data['egress.yaml'] ?? '', {});
}

/** How long a program waits for what is in flight when it ends, according to its source. */
function graceMs(file: string): number {
  const source = readFileSync(join(root, file), 'utf8');
  return Number(/GRACE_MS = ([\d_]+)/.exec(source)?.[1]?.replaceAll('_', ''));
}

const defaultPorts: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80, 'redis:': 6379, 'rediss:': 6379 };

/** Whether a policy lets the pods out to where a URL leads: to the port of the pods behind a service, or by address. */
function isLetOut(manifests: readonly Manifest[], deployment: string, { hostname, port, protocol }: URL): boolean {
  const { metadata } = named(manifests, 'Deployment', deployment);
  const [, service = hostname, namespace = metadata.namespace] = /^([^.]+)\.([^.]+)\.svc(?:\.|$)/.exec(hostname) ?? [];
  // The API server is not a pod.
  const isService = !service.includes('.') && service !== 'kubernetes';
  const asked = port === '' ? defaultPorts[protocol] : Number(port);
  const own = ofKind(manifests, 'Service').find((one) => isService && one.metadata.name === service);
  const target = own?.spec.ports.find((one) => one.port === asked)?.targetPort ?? asked;
  const pods = selected(manifests, { matchLabels: { 'app.kubernetes.io/name': service } });
  const numberOf = (name: string | number | undefined): number | undefined =>
    typeof name === 'number'
      ? name
      : pods
          .flatMap(({ spec }) => spec.template.spec.containers.flatMap(({ ports = [] }) => ports))
          .find((one) => one.name === name)?.containerPort;
  const reaches = ({ podSelector, namespaceSelector, ipBlock }: Peer): boolean =>
    isService
      ? podSelector?.matchLabels?.['app.kubernetes.io/name'] === service &&
        (namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name'] ?? metadata.namespace) === namespace
      : ipBlock !== undefined;
  return ofKind(manifests, 'NetworkPolicy')
    .filter(({ spec }) => spec.podSelector.matchLabels?.['app.kubernetes.io/name'] === deployment)
    .flatMap(({ spec }) => spec.egress ?? [])
    .some(
      ({ to = [], ports = [] }) => to.some(reaches) && ports.some((rule) => numberOf(rule.port) === numberOf(target)),
    );
}
