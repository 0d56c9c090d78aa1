import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseConfiguration } from '#libs/configuration';
import { containersOf, type Manifest, named, ofKind, type PodSpec, root } from './manifests.js';
import {
  fileFaults,
  filesNamedBy,
  monitoringFaults,
  portFaults,
  reachFaults,
  rolloutFaults,
} from './program-checks.js';

type ParsedConfiguration = ReturnType<typeof parseConfiguration>;

const NAME = 'session-broker';
/** Read by OpenTelemetry's SDK and by Node.js itself. */
const READ_BY_LIBRARIES = /^(?:OTEL_[A-Z_]+|NODE_OPTIONS)$/;

/** Whether the rendered output is what the broker reads, opens, answers and needs. */
export function brokerFaults(manifests: readonly Manifest[]): readonly string[] {
  const deployment = named(manifests, 'Deployment', NAME);
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;
  if (container === undefined) return ['there is no container'];
  const configuration = configurationOf(manifests, pod.containers);
  return [
    ...portFaults(container, configuration.http, configuration.management),
    ...fileFaults(manifests, pod, [...filesNamedBy(configuration), '/etc/session-broker/broker.yaml']),
    ...rolloutFaults(manifests, deployment, { replicas: 3, stopsWithinMs: graceMs('apps/broker/src/run-broker.ts') }),
    ...reachFaults(manifests, NAME, wantedBy(configuration)),
    ...monitoringFaults(manifests),
  ];
}

/** @returns names that a program's pod sets and none of the program's sources reads */
export function environmentFaults(manifests: readonly Manifest[], program: string): readonly string[] {
  const folder = join(root, 'apps', program, 'src');
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(?<!spec)\.ts$/.test(name),
  );
  const text = sources.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  const known = new Set([...text.matchAll(/environment\['([A-Z_]+)'\]/g)].map(([, name]) => name));
  return ofKind(manifests, 'Deployment')
    .flatMap(({ spec }) => containersOf(spec.template.spec))
    .filter(({ name }) => name === program)
    .flatMap(({ env = [] }) => env.map(({ name }) => name))
    .filter((name) => !known.has(name) && !READ_BY_LIBRARIES.test(name))
    .map((name) => `${program} does not read ${name}`);
}

/** @throws ConfigurationError if the broker would not accept what is mounted for it */
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

/** How long a program waits for what is in flight when it ends, according to its source. */
export function graceMs(file: string): number {
  const source = readFileSync(join(root, file), 'utf8');
  return Number(/GRACE_MS = ([\d_]+)/.exec(source)?.[1]?.replaceAll('_', ''));
}

/** Where the configuration connects to. */
function wantedBy({ store, merchants, auth }: ParsedConfiguration): readonly URL[] {
  const redis = store.url === undefined ? [] : [new URL(store.url)];
  const issuer = auth.jwt?.jwksUri === undefined ? [] : [auth.jwt.jwksUri];
  return [...redis, ...merchants.map(({ gateway }) => gateway.proxy ?? gateway.baseUrl), ...issuer];
}
