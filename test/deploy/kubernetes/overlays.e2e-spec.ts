import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { createManagementServer } from '../../../apps/broker/src/management/management-server.js';
import { describeWith } from '../../interop/availability.js';
import { allChecks } from './all-checks.js';
import { configurationOf } from './broker-checks.js';
import { folder, type Manifest, named, ofKind, type PodSpec, root } from './manifests.js';
import { kubectl, OVERLAYS, renderOverlays } from './rendered-overlays.js';

function podOf(manifests: readonly Manifest[], deployment: string): PodSpec {
  return named(manifests, 'Deployment', deployment).spec.template.spec;
}

describe('the manifests', () => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'));

  it.each(files)('%s is YAML without a fault', (name) => {
    const documents = parseAllDocuments(readFileSync(join(folder, name), 'utf8'));
    expect(documents.flatMap(({ errors }) => errors)).toEqual([]);
  });

  it('take part in a kustomization, each of them', () => {
    const kustomizations = files.filter((name) => name.endsWith('kustomization.yaml'));
    const text = kustomizations.map((name) => readFileSync(join(folder, name), 'utf8')).join();
    const others = files.filter((name) => !kustomizations.includes(name)).map((name) => name.split('/').at(-1) ?? '');
    expect(others.filter((name) => !text.includes(name))).toEqual([]);
  });
});

describeWith(kubectl, 'what the overlays render to', () => {
  const { overlays, consumer, prepared } = renderOverlays();
  const production = overlays['overlays/production'];

  describe.each(OVERLAYS)('%s', (name) => {
    it.each(Object.entries(allChecks))('is without a fault of its %s', (_check, faultsOf) => {
      expect(faultsOf(overlays[name])).toEqual([]);
    });
  });

  it('has the rules and the dashboard that are tested elsewhere', () => {
    const rules = parse(readFileSync(join(root, 'deploy/prometheus/rules/session-broker.yml'), 'utf8')) as object;
    expect(named(production, 'PrometheusRule', 'session-broker').spec).toEqual(rules);
    const dashboard = named(production, 'ConfigMap', 'session-broker-dashboard');
    expect(dashboard.metadata.labels).toMatchObject({ grafana_dashboard: '1' });
    const text = readFileSync(join(root, 'deploy/grafana/dashboards/session-broker.json'), 'utf8');
    expect(dashboard.data).toEqual({ 'session-broker.json': text });
  });

  it('probes paths that the broker answers on its management port', async () => {
    const server = createManagementServer(() => ({
      ready: false,
      shuttingDown: false,
      missing: ['shop'],
      store: 'answers',
      storeReached: true,
    }));
    const [container] = podOf(production, 'session-broker').containers;
    const probes = [container?.startupProbe, container?.livenessProbe, container?.readinessProbe];
    const answers = await Promise.all(
      probes.map(async (probe) => (await server.inject(probe?.httpGet?.path ?? '/none')).statusCode),
    );
    expect(answers).toEqual([200, 200, 503]);
    await server.close();
  });

  it('has a demo whose token is printed once and kept nowhere', () => {
    const token = /demo token: (\S+)/.exec(prepared)?.[1] ?? 'none';
    expect(token).toMatch(/^[\w-]{32}$/);
    expect(JSON.stringify(overlays['overlays/demo'])).not.toContain(token);
    expect(ofKind(overlays['overlays/demo'], 'Secret')).toHaveLength(4);
  });

  describe('the example of a consumer', () => {
    it('is without a fault', () => {
      const held = ['models', 'schemas', 'wiring', 'hardening'];
      expect(held.flatMap((name) => allChecks[name]?.(consumer) ?? [`${name} is no check`])).toEqual([]);
    });

    it('is let in by the labels of its pod and of its namespace', () => {
      const [consumers] = named(production, 'NetworkPolicy', 'session-broker').spec.ingress ?? [];
      const pod = { matchLabels: { 'session-broker/consumer': 'true' } };
      const space = { matchLabels: { 'session-broker/consumers': 'true' } };
      expect(consumers?.from).toEqual([{ podSelector: pod, namespaceSelector: space }]);
      expect(named(consumer, 'Deployment', 'checkout').spec.template.metadata.labels).toMatchObject(pod.matchLabels);
      expect(named(consumer, 'Namespace', 'shop').metadata.labels).toMatchObject(space.matchLabels);
    });

    it('calls the service at its name and port', () => {
      const variables = podOf(consumer, 'checkout').containers.flatMap(({ env = [] }) => env);
      const { metadata, spec } = named(production, 'Service', 'session-broker');
      const value = `http://${metadata.name}.${String(metadata.namespace)}.svc`;
      expect(variables).toContainEqual({ name: 'SESSION_BROKER_URL', value });
      expect(spec.ports.map(({ port }) => port)).toEqual([80]);
    });

    it('has the token that the production overlay accepts: its audience, and the name of its account', () => {
      const { volumes = [], serviceAccountName = 'nobody', containers } = podOf(consumer, 'checkout');
      const tokens = volumes.flatMap(({ projected }) => projected?.sources.map((one) => one.serviceAccountToken) ?? []);
      const { auth } = configurationOf(production, podOf(production, 'session-broker').containers);
      expect(tokens).toEqual([expect.objectContaining({ audience: auth.jwt?.audience, path: 'token' })]);
      expect(auth.policies.map(({ caller }) => caller)).toEqual([`system:serviceaccount:shop:${serviceAccountName}`]);
      const variables = containers.flatMap(({ env = [] }) => env);
      expect(variables).toContainEqual({ name: 'SESSION_BROKER_TOKEN_FILE', value: '/run/session-broker/token' });
      expect(containers.flatMap(({ volumeMounts = [] }) => volumeMounts)).toMatchObject([
        { mountPath: '/run/session-broker' },
      ]);
    });
  });
});
