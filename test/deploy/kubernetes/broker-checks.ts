import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseConfiguration, type ParsedConfiguration } from '#libs/configuration';
import {
  type Container,
  filesOf,
  type Manifest,
  named,
  ofKind,
  type Peer,
  type PodSpec,
  replicasOf,
  root,
  selected,
} from './manifests.js';

const NAME = 'session-broker';
/** What closing takes after the grace for renewals: requests are drained, connections closed. */
const CLOSING_SECONDS = 6;
/** Read by OpenTelemetry's SDK and by Node.js itself. */
const READ_BY_LIBRARIES = /^(?:OTEL_[A-Z_]+|NODE_OPTIONS)$/;

/** Whether what is rendered is what the broker reads, opens, answers and needs. */
export function brokerFaults(manifests: readonly Manifest[]): readonly string[] {
  const deployment = named(manifests, 'Deployment', NAME);
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;
  if (container === undefined) return ['there is no container'];
  const configuration = configurationOf(manifests, pod.containers);
  return [
    ...portFaults(container, configuration),
    ...fileFaults(manifests, pod, configuration),
    ...memoryFaults(container, configuration),
    ...probeFaults(container),
    ...rolloutFaults(manifests, deployment),
    ...reachFaults(manifests, configuration),
    ...monitoringFaults(manifests, deployment),
  ];
}

/** @returns names that a program's pod sets, and that no source of it reads */
export function environmentFaults(manifests: readonly Manifest[], program: string): readonly string[] {
  const folder = join(root, 'apps', program, 'src');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!spec)\.ts$/.test(name),
  );
  const text = sources.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  const known = new Set([...text.matchAll(/environment\['([A-Z_]+)'\]/g)].map(([, name]) => name));
  return ofKind(manifests, 'Deployment')
    .flatMap(({ spec }) => spec.template.spec.containers)
    .filter(({ name }) => name === program)
    .flatMap(({ env = [] }) => env.map(({ name }) => name))
    .filter((name) => !known.has(name) && !READ_BY_LIBRARIES.test(name))
    .map((name) => `${program} does not read ${name}`);
}

/** @throws ConfigurationError when the broker would not take what is mounted for it */
export function configurationOf(
  manifests: readonly Manifest[],
  [container]: PodSpec['containers'],
): ParsedConfiguration {
  const [key, text] = Object.entries(named(manifests, 'ConfigMap', NAME).data ?? {})[0] ?? ['', ''];
  const file = container?.env?.find(({ name }) => name === 'BROKER_CONFIG')?.value;
  if (file !== `/etc/session-broker/${key}`)
    throw new Error(`BROKER_CONFIG is ${String(file)}, and the file is ${key}`);
  return parseConfiguration(text, {});
}

function portFaults({ ports = [] }: Container, { http, management }: ParsedConfiguration): readonly string[] {
  const expected = JSON.stringify({ api: http.port, management: management.port });
  const open = JSON.stringify(Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort])));
  const inside = [http.host, management.host].filter((host) => host !== '0.0.0.0');
  return [
    ...(open === expected ? [] : [`the pod opens ${open}, and the broker ${expected}`]),
    ...inside.map((host) => `the broker listens on ${host}, which nobody outside the pod reaches`),
  ];
}

/** Every file that the configuration names has to be in a volume, under the name that it has there. */
function fileFaults(manifests: readonly Manifest[], pod: PodSpec, { files }: ParsedConfiguration): readonly string[] {
  const mounts = pod.containers.flatMap(({ volumeMounts = [] }) => volumeMounts);
  const present = new Set(
    mounts.flatMap(({ name, mountPath }) => {
      const volume = (pod.volumes ?? []).find((one) => one.name === name);
      return volume === undefined ? [] : filesOf(manifests, volume).map((file) => join(mountPath, file));
    }),
  );
  const configured = [...files.map(({ file }) => file), '/etc/session-broker/broker.yaml'];
  const missing = configured.filter((file) => !present.has(file)).map((file) => `${file} is in no volume`);
  const used = new Set(configured.map((file) => dirname(file)));
  const idle = mounts
    .map(({ mountPath }) => mountPath)
    .filter((path) => path !== '/tmp' && !used.has(path))
    .map((path) => `nothing in ${path} is read`);
  return [...missing, ...idle];
}

/** At rest, under load, with payloads, and for each watcher: the figures of docs/operating.md, and a tenth on top. */
function memoryFaults({ resources }: Container, { http }: ParsedConfiguration): readonly string[] {
  const limitMib = Number(/^(\d+)Mi$/.exec(resources?.limits?.['memory'] ?? '')?.[1]);
  const neededMib = 1.1 * (121 + 64 + 40 + (13 * http.maxWatchers) / 1_024);
  return limitMib >= neededMib ? [] : [`its memory does not suffice for its watchers: ${neededMib.toFixed()} MiB`];
}

function probeFaults({ startupProbe, livenessProbe, readinessProbe }: Container): readonly string[] {
  const expected = [
    ['starts', startupProbe, '/livez'],
    ['lives', livenessProbe, '/livez'],
    ['is ready', readinessProbe, '/readyz'],
  ] as const;
  return expected
    .filter(([, probe, path]) => probe?.httpGet?.path !== path || probe.httpGet.port !== 'management')
    .map(([what]) => `whether it ${what} is asked elsewhere than it is answered`);
}

function rolloutFaults(manifests: readonly Manifest[], deployment: Manifest): readonly string[] {
  const { spec } = deployment;
  const { topologySpreadConstraints = [] } = spec.template.spec;
  const spread = topologySpreadConstraints.map(({ topologyKey }) => topologyKey);
  const budgets = ofKind(manifests, 'PodDisruptionBudget').filter((budget) =>
    selected(manifests, budget.spec.selector).some(({ metadata }) => metadata.name === NAME),
  );
  return [
    ...stopFaults(spec.template.spec),
    ...(spec.strategy?.rollingUpdate?.maxUnavailable === 0 ? [] : ['an update takes a replica before it has another']),
    ...(replicasOf(manifests, deployment) >= 3 ? [] : ['there are less than three replicas']),
    ...['kubernetes.io/hostname', 'topology.kubernetes.io/zone']
      .filter((key) => !spread.includes(key))
      .map((key) => `all replicas may be where ${key} is the same`),
    ...(budgets.length === 1 ? [] : ['no disruption budget is its own']),
  ];
}

/** Endpoints forget the pod while it still listens; then it has the time that it gives itself. */
function stopFaults({ containers, terminationGracePeriodSeconds = 30 }: PodSpec): readonly string[] {
  const source = readFileSync(join(root, 'apps/broker/src/run-broker.ts'), 'utf8');
  const graceMs = Number(/GRACE_MS = ([\d_]+)/.exec(source)?.[1]?.replaceAll('_', ''));
  const listens = containers[0]?.lifecycle?.preStop.sleep.seconds ?? 0;
  const needed = listens + graceMs / 1_000 + CLOSING_SECONDS;
  return [
    ...(listens > 0 ? [] : ['it ends while it is still being called']),
    ...(terminationGracePeriodSeconds >= needed ? [] : [`it is killed before it has ended: it needs ${needed} s`]),
  ];
}

/** What the configuration wants to connect to, and no policy lets out. */
function reachFaults(
  manifests: readonly Manifest[],
  { store, merchants, auth }: ParsedConfiguration,
): readonly string[] {
  const redis = store.type === 'redis' && store.place.kind === 'url' ? [new URL(store.place.url)] : [];
  const issuer = auth.jwt?.jwksUri === undefined ? [] : [auth.jwt.jwksUri];
  const wanted = [...redis, ...merchants.map(({ gateway }) => gateway.baseUrl), ...issuer];
  return wanted
    .filter((url) => !isLetOut(manifests, url))
    .map(({ host }) => `no network policy lets the broker out to ${host}`);
}

const defaultPorts: Readonly<Record<string, number>> = { 'https:': 443, 'http:': 80, 'redis:': 6379, 'rediss:': 6379 };

function isLetOut(manifests: readonly Manifest[], url: URL): boolean {
  const port = url.port === '' ? defaultPorts[url.protocol] : Number(url.port);
  const own = named(manifests, 'Deployment', NAME).spec.template.metadata.labels;
  // A name of one label is a service in the namespace; what has more is reached by address.
  const isHere = !url.hostname.includes('.');
  const reaches = ({ podSelector, ipBlock }: Peer): boolean =>
    isHere ? podSelector?.matchLabels?.['app.kubernetes.io/name'] === url.hostname : ipBlock !== undefined;
  return ofKind(manifests, 'NetworkPolicy')
    .filter(({ spec }) => spec.podSelector.matchLabels?.['app.kubernetes.io/name'] === own['app.kubernetes.io/name'])
    .flatMap(({ spec }) => spec.egress ?? [])
    .some(
      ({ to = [], ports = [] }) =>
        to.some(reaches) && ports.some((rule) => numberOf(manifests, url.hostname, rule.port) === port),
    );
}

function numberOf(manifests: readonly Manifest[], service: string, port: string | number): number | undefined {
  if (typeof port === 'number') return port;
  const pods = selected(manifests, { matchLabels: { 'app.kubernetes.io/name': service } });
  return pods
    .flatMap(({ spec }) => spec.template.spec.containers.flatMap(({ ports = [] }) => ports))
    .find(({ name }) => name === port)?.containerPort;
}

/** Dashboard and alerts know the job by its name, and the Prometheus operator takes it from a label. */
function monitoringFaults(manifests: readonly Manifest[], { spec }: Manifest): readonly string[] {
  return ofKind(manifests, 'PodMonitor').flatMap((monitor) => [
    ...(spec.template.metadata.labels[monitor.spec.jobLabel] === NAME
      ? []
      : ['the job has another name in the alerts']),
    ...monitor.spec.podMetricsEndpoints
      .filter(({ port, path }) => port !== 'management' || path !== '/metrics')
      .map(({ port, path }) => `there are no metrics on ${port}${path}`),
  ]);
}
