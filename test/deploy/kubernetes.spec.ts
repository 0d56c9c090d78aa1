import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { parseAllDocuments } from 'yaml';
import { parseConfiguration } from '#libs/configuration';

const root = join(import.meta.dirname, '..', '..');
const schemaFile = join(root, '..', 'shared', 'schemas', 'k8s-openapi.json.gz');

type Labels = Readonly<Record<string, string>>;
interface Selector {
  readonly matchLabels?: Labels;
}
interface Container {
  readonly image: string;
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
  readonly securityContext: object;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}
interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsUser: number };
  readonly containers: readonly [Container];
  readonly volumes: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[];
}
interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly replicas: number;
    readonly selector: Selector & Labels;
    readonly podSelector: Selector;
    readonly ingress: readonly { readonly from: readonly { readonly podSelector: Selector }[] }[];
    readonly ports: readonly { readonly targetPort: string }[];
    readonly template: { readonly metadata: { readonly labels: Labels }; readonly spec: PodSpec };
  };
}

const folder = join(root, 'deploy/kubernetes');
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const rendered = hasKubectl
  ? execFileSync('kubectl', ['kustomize', join(folder, 'overlays/production')], { encoding: 'utf8' })
  : '';
const manifests = parseAllDocuments(rendered).map((document) => document.toJS() as Manifest);

function only(kind: string): Manifest {
  const found = manifests.find((manifest) => manifest.kind === kind);
  if (found === undefined) throw new Error(`no ${kind} was rendered`);
  return found;
}

/** Kubernetes' own schema, made strict: what a type does not list, it does not take. */
function strictSchema(): object {
  const text = gunzipSync(readFileSync(schemaFile)).toString('utf8');
  return JSON.parse(text, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    if ('format' in value && value.format === 'int-or-string') return { type: ['integer', 'string'] };
    const listed = 'properties' in value && 'type' in value && value.type === 'object';
    return listed && !('additionalProperties' in value) ? { ...value, additionalProperties: false } : value;
  }) as object;
}

const typeNames: Readonly<Record<string, string>> = {
  Deployment: 'io.k8s.api.apps.v1.Deployment',
  Service: 'io.k8s.api.core.v1.Service',
  ConfigMap: 'io.k8s.api.core.v1.ConfigMap',
  Namespace: 'io.k8s.api.core.v1.Namespace',
  ServiceAccount: 'io.k8s.api.core.v1.ServiceAccount',
  PodDisruptionBudget: 'io.k8s.api.policy.v1.PodDisruptionBudget',
  NetworkPolicy: 'io.k8s.api.networking.v1.NetworkPolicy',
};

function schemaFaults(subjects: readonly object[]): unknown[] {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema(strictSchema(), 'kubernetes');
  return subjects.flatMap((subject) => {
    const name = 'kind' in subject ? typeNames[String(subject.kind)] : undefined;
    ajv.validate({ $ref: `kubernetes#/definitions/${String(name)}` }, subject);
    return ajv.errors ?? [];
  });
}

/** Rendering needs kubectl; where there is none, at least what is rendered from is read. */
function describeRendered(name: string, tests: () => void): void {
  if (hasKubectl) describe(name, tests);
}

describe('the manifests', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'));

  it.each(files)('%s is YAML without a fault', (name) => {
    const documents = parseAllDocuments(readFileSync(join(folder, name), 'utf8'));
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('take part in a kustomization, each of them', () => {
    const kustomizations = files.filter((name) => name.endsWith('kustomization.yaml'));
    const named = kustomizations.map((name) => readFileSync(join(folder, name), 'utf8')).join();
    const others = files.filter((name) => !kustomizations.includes(name)).map((name) => name.split('/').at(-1) ?? '');
    expect(others.filter((name) => !named.includes(name))).toEqual([]);
  });
});

describeRendered('the production overlay', () => {
  const template = only('Deployment').spec.template;
  const pod = template.spec;
  const [container] = pod.containers;

  it('is what the schema of Kubernetes allows, where that schema lies beside the project', () => {
    const checks = existsSync(schemaFile) ? schemaFaults(manifests) : [];
    expect(checks).toEqual([]);
    const wrong = { ...only('Deployment'), spec: { ...only('Deployment').spec, replica: 3 } };
    expect(existsSync(schemaFile) ? schemaFaults([wrong]).length : 1).toBeGreaterThan(0);
  });

  it('selects its own pods by service, budget and deployment', () => {
    expect(template.metadata.labels).toMatchObject(only('Service').spec.selector);
    for (const kind of ['PodDisruptionBudget', 'Deployment']) {
      expect(template.metadata.labels).toMatchObject(only(kind).spec.selector.matchLabels ?? { none: 'selected' });
    }
  });

  it('lets labelled consumers in without asking them to be brokers', () => {
    const [consumers] = only('NetworkPolicy').spec.ingress;
    expect(consumers?.from[0]?.podSelector.matchLabels).toEqual({ 'session-broker/consumer': 'true' });
  });

  it('holds a configuration that the broker reads, on the ports that the pod opens', () => {
    const [name, text] = Object.entries(only('ConfigMap').data ?? {})[0] ?? ['', ''];
    const parsed = parseConfiguration(text, {});
    const ports = Object.fromEntries(container.ports.map((port) => [port.name, port.containerPort]));
    expect(ports).toEqual({ api: parsed.http.port, management: parsed.management.port });
    expect(container.env).toEqual([{ name: 'BROKER_CONFIG', value: `/etc/session-broker/${name}` }]);
    const volume = pod.volumes.find(({ configMap }) => configMap !== undefined);
    expect(volume?.configMap?.name).toBe(only('ConfigMap').metadata.name);
  });

  it('mounts a volume for every file that the configuration names', () => {
    const text = Object.values(only('ConfigMap').data ?? {})[0] ?? '';
    const files = text.match(/\/run\/[\w/.-]+/gu) ?? [];
    const folders = container.volumeMounts.map(({ mountPath }) => `${mountPath}/`);
    expect(files).toHaveLength(3);
    expect(files.filter((file) => !folders.some((folder) => file.startsWith(folder)))).toEqual([]);
  });

  it('gives the broker longer to stop than it takes for itself', () => {
    const main = readFileSync(join(root, 'apps/broker/src/run-broker.ts'), 'utf8');
    const graceMs = Number(/GRACE_MS = ([\d_]+)/u.exec(main)?.[1]?.replaceAll('_', ''));
    const taken = container.lifecycle.preStop.sleep.seconds + graceMs / 1000;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(taken);
  });

  it('keeps to the restricted profile, above UID 10000 and on a read-only root', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(pod.securityContext.runAsUser).toBeGreaterThan(10_000);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.image).toMatch(/:\d+\.\d+\.\d+$/u);
  });
});
