import { fail } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describeWith } from '#libs/testing';
import {
  allChecks,
  brokerConfigurationOf,
  egressConfigurationOf,
  expectFiles,
  filesNamedBy,
  podOf,
} from './manifest-checks.js';
import {
  folder,
  type Manifest,
  named,
  type NetworkRule,
  ofKind,
  parsed,
  type PodSpec,
  root,
  selects,
} from './manifests.js';
import { kubernetesPrograms } from './kubernetes-programs.js';
import { page } from './page-blocks.js';
import { strictFaults } from './schema-checks.js';
import { INTENTS, renderIntents, template, valuesOf, writtenManifests } from './intents.js';

describeWith(kubernetesPrograms, 'what `npm run manifests` writes', () => {
  it.each(Object.entries(writtenManifests()))('is what the chart renders: %s', (file, text) => {
    expect(parsed(readFileSync(join(folder, file), 'utf8'))).toEqual(parsed(text));
  });
});

describeWith([kubernetesPrograms, 'schemas'], 'what is installed, by strict schemas', () => {
  const { intents, consumer, sidecar, doctor } = renderIntents();
  const doctors = [valuesOf('production'), valuesOf('production-mtls')].flatMap((file) =>
    ofKind(template('session-broker', [file], []), 'Pod'),
  );

  it.each(Object.entries({ ...intents, consumer, sidecar, doctor, doctors }))(
    'is without a fault: %s',
    (_name, manifests) => {
      expect(strictFaults(manifests)).toEqual([]);
    },
  );
});

describeWith(kubernetesPrograms, 'what is installed for each intent', () => {
  const { intents, consumer, sidecar, prepared } = renderIntents();
  const { production } = intents;
  const withEgress = intents['production, with every option'];

  describe.each(INTENTS)('%s', (name) => {
    it.each(Object.entries(allChecks))('is without a fault of its %s', (_check, expectRight) => {
      expectRight(intents[name]);
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

  it('leaves the number of pods to the autoscaler, where there is one', () => {
    const [scaler] = ofKind(withEgress, 'HorizontalPodAutoscaler');
    expect(scaler?.spec.scaleTargetRef).toMatchObject({ kind: 'Deployment', name: 'session-broker' });
    expect(named(withEgress, 'Deployment', 'session-broker').spec.replicas).toBeUndefined();
  });

  it.each(['session-broker', 'session-egress'])('lets %s resolve names, whoever does that in its cluster', (name) => {
    const rules = named(withEgress, 'NetworkPolicy', name).spec.egress ?? [];
    const ways = rules.filter(({ ports = [] }) => ports.some(({ protocol }) => protocol === 'UDP'));
    const text = JSON.stringify(ways);
    for (const resolver of [
      'kube-dns',
      '169.254.20.10/32',
      'node-local-dns',
      'dns.operator.openshift.io/daemonset-dns',
    ])
      expect(text).toContain(resolver);
    for (const { ports = [] } of ways) expect(ports.map(({ protocol }) => protocol)).toEqual(['UDP', 'TCP']);
  });

  it('has a demo whose token is printed once and kept nowhere', () => {
    const token = /demo token: (\S+)/.exec(prepared)?.[1] ?? 'none';
    expect(token).toMatch(/^[\w-]{32}$/);
    expect(JSON.stringify(intents.demo)).not.toContain(token);
    expect(ofKind(intents.demo, 'Secret')).toHaveLength(4);
  });

  describe('the example of a consumer', () => {
    it('is without a fault', () => {
      allChecks.wiring(consumer);
      allChecks.hardening(consumer);
    });

    it('is let in by the labels of its pod and of its namespace', () => {
      const [consumers] = named(production, 'NetworkPolicy', 'session-broker').spec.ingress ?? [];
      const pod = { matchLabels: { 'session-broker/consumer': 'true' } };
      const space = { matchLabels: { 'session-broker/consumers': 'true' } };
      expect(consumers?.from).toEqual([{ podSelector: pod, namespaceSelector: space }]);
      expect(named(consumer, 'Deployment', 'checkout').spec.template.metadata.labels).toMatchObject(pod.matchLabels);
      expect(named(consumer, 'Namespace', 'shop').metadata.labels).toMatchObject(space.matchLabels);
    });

    it('is let out to the pods of the broker at the port that they listen on, to DNS as they are, and to the gateway', () => {
      const { podSelector, policyTypes, egress = [] } = named(consumer, 'NetworkPolicy', 'checkout').spec;
      const { labels } = named(consumer, 'Deployment', 'checkout').spec.template.metadata;
      expect([selects(podSelector, labels), policyTypes]).toEqual([true, ['Egress']]);
      const dns = (rules: readonly NetworkRule[] = []): readonly NetworkRule[] =>
        rules.filter(({ ports = [] }) => ports.some(({ protocol }) => protocol === 'UDP'));
      expect(dns(egress)).toEqual(dns(named(production, 'NetworkPolicy', 'session-broker').spec.egress));
      const [api] = podOf(production, 'session-broker').containers.flatMap(({ ports = [] }) => ports);
      const gateway = named(production, 'NetworkPolicy', 'session-broker-gateway').spec.egress ?? [];
      const pods = { matchLabels: { 'app.kubernetes.io/name': 'session-broker' } };
      const space = { matchLabels: { 'kubernetes.io/metadata.name': 'session-broker' } };
      expect(egress.filter((rule) => !dns(egress).includes(rule))).toEqual([
        {
          to: [{ namespaceSelector: space, podSelector: pods }],
          ports: [{ protocol: 'TCP', port: api?.containerPort }],
        },
        ...gateway,
      ]);
      const [ofEgress] = podOf(withEgress, 'session-egress').containers.flatMap(({ ports = [] }) => ports);
      const [, told] = /### The way out of a consumer([^]*?)\n## /.exec(page) ?? [];
      const ports = [api, ofEgress].map((port) => String(port?.containerPort));
      expect(told?.match(/(?<=\*\*)\d+(?=\*\*)/g)).toEqual(ports);
    });

    it('calls the service at its name and port', () => {
      const variables = podOf(consumer, 'checkout').containers.flatMap(({ env = [] }) => env);
      const { metadata, spec } = named(production, 'Service', 'session-broker');
      const value = `http://${metadata.name}.${String(metadata.namespace)}.svc`;
      expect(variables).toContainEqual({ name: 'SESSION_BROKER_URL', value });
      expect(spec.ports.map(({ port }) => port)).toEqual([80]);
    });

    it('has the token that the production accepts: its audience, and the name of its account', () => {
      const { volumes = [], serviceAccountName = 'nobody', containers } = podOf(consumer, 'checkout');
      const tokens = volumes.flatMap(({ projected }) => projected?.sources.map((one) => one.serviceAccountToken) ?? []);
      const { auth } = brokerConfigurationOf(production);
      expect(tokens).toEqual([expect.objectContaining({ audience: auth.jwt?.audience, path: 'token' })]);
      expect(auth.policies.map(({ caller }) => caller)).toContain(`system:serviceaccount:shop:${serviceAccountName}`);
      const variables = containers.flatMap(({ env = [] }) => env);
      expect(variables).toContainEqual({ name: 'SESSION_BROKER_TOKEN_FILE', value: '/run/session-broker/token' });
      expect(containers.flatMap(({ volumeMounts = [] }) => volumeMounts)).toMatchObject([
        { mountPath: '/run/session-broker' },
      ]);
    });
  });

  describe('the person on call', () => {
    const runbooks = readFileSync(join(root, 'docs/runbooks/README.md'), 'utf8');
    const mayRenew = (manifests: readonly Manifest[]): readonly string[] =>
      brokerConfigurationOf(manifests)
        .auth.policies.filter(({ allow }) =>
          ['session:read', 'session:renew'].every((it) => allow.includes(it as never)),
        )
        .map(({ caller }) => caller);

    it('may renew in production, with a token of the account that the line of the runbooks takes it from', () => {
      const [, namespace, account = '', audience] =
        /kubectl -n (\S+) create token (\S+) --audience (\S+) \|/.exec(runbooks) ?? [];
      expect(mayRenew(production)).toEqual([`system:serviceaccount:${namespace}:${account}`]);
      expect(named(production, 'ServiceAccount', account).metadata.namespace).toBe(namespace);
      const { auth, http } = brokerConfigurationOf(production);
      expect(audience).toBe(auth.jwt?.audience);
      expect(runbooks).toContain(` --url http://127.0.0.1:${http.port} --token-file /dev/stdin`);
    });

    it('may renew by the name of a certificate where callers have one, and needs no account', () => {
      const [caller = 'nobody'] = mayRenew(intents['production-mtls']);
      expect(runbooks).toContain(`\`${caller}\``);
      const accounts = ofKind(intents['production-mtls'], 'ServiceAccount').map(({ metadata }) => metadata.name);
      expect(accounts).toEqual(['session-broker', 'session-egress']);
    });
  });

  describe.each(['production', 'production-mtls'] as const)('the doctor of %s', (intent) => {
    const rendered = template('session-broker', [valuesOf(intent)], []);
    const { metadata, spec } = named(rendered, 'Pod', 'session-broker-doctor');
    const { containers, restartPolicy, ...pod } = spec as unknown as PodSpec;

    it('is run by `helm test`, once', () => {
      expect(metadata.annotations).toEqual({ 'helm.sh/hook': 'test' });
      expect(restartPolicy).toBe('Never');
    });

    it('has what the pods of the broker have, and nothing that asks how it is', () => {
      const { containers: brokers, ...ofBroker } = podOf(rendered, 'session-broker');
      expect(pod).toEqual(ofBroker);
      const {
        ports: _ports,
        startupProbe: _start,
        livenessProbe: _live,
        readinessProbe: _ready,
        ...same
      } = brokers[0]!;
      const { lifecycle: _end, ...program } = same;
      expect(containers).toEqual([{ ...program, name: 'doctor', command: ['session-broker', 'doctor'] }]);
    });

    it('is let out by every policy that lets the broker out, and counts for no budget', () => {
      const policies = ofKind(rendered, 'NetworkPolicy').filter(
        ({ spec: { egress, podSelector } }) =>
          egress !== undefined && selects(podSelector, { 'app.kubernetes.io/name': 'session-broker' }),
      );
      expect(policies.filter(({ spec: { podSelector } }) => !selects(podSelector, metadata.labels ?? {}))).toEqual([]);
      expect(policies.length).toBeGreaterThan(1);
      const budgets = ofKind(rendered, 'PodDisruptionBudget');
      expect(budgets.filter(({ spec: { selector } }) => selects(selector, metadata.labels ?? {}))).toEqual([]);
    });
  });

  describe('the egress as a service', () => {
    it('lets in the pods with its label, and they need no way to the broker', () => {
      const [clients] = named(withEgress, 'NetworkPolicy', 'session-egress').spec.ingress ?? [];
      const pod = { matchLabels: { 'session-egress/client': 'true' } };
      const space = { matchLabels: { 'session-broker/consumers': 'true' } };
      expect(clients?.from).toEqual([{ podSelector: pod, namespaceSelector: space }]);
      expect(clients?.ports).toEqual([{ protocol: 'TCP', port: 'api' }]);
    });

    it('is let in by the broker, and nobody else is let in with it', () => {
      const [rule, ...others] = named(withEgress, 'NetworkPolicy', 'session-broker-egress').spec.ingress ?? [];
      expect(others).toEqual([]);
      expect(rule?.from).toEqual([{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'session-egress' } } }]);
    });

    it('has no key of a merchant, and nothing of Redis', () => {
      const { volumes = [] } = podOf(withEgress, 'session-egress');
      expect(volumes.flatMap(({ secret }) => secret?.secretName ?? [])).toEqual(['session-egress-keys']);
    });

    it('is not given up by a route before it gives up itself, and no payment is repeated there', () => {
      const [{ spec, metadata } = fail()] = ofKind(withEgress, 'HTTPRoute');
      const { containers } = podOf(withEgress, 'session-egress');
      const { gateway } = egressConfigurationOf(named(withEgress, 'ConfigMap', 'session-egress'), containers[0]!);
      for (const { retry, timeouts, backendRefs } of spec.rules) {
        expect([metadata.name, retry]).toEqual([metadata.name, undefined]);
        expect(Number(/^(\d+)s$/.exec(timeouts?.request ?? '')?.[1])).toBeGreaterThan(gateway.timeoutMs / 1_000);
        expect(backendRefs).toEqual([expect.objectContaining({ name: 'session-egress', port: 80 })]);
      }
      const [rule] = named(withEgress, 'NetworkPolicy', 'session-egress-route').spec.ingress ?? [];
      const labels = { 'gateway.networking.k8s.io/gateway-name': 'internal' };
      expect(rule?.from).toEqual([expect.objectContaining({ podSelector: { matchLabels: labels } })]);
    });
  });

  describe('the example of an egress beside a plug-in', () => {
    const pod = podOf(sidecar, 'plugin');
    const [egress] = pod.initContainers ?? [];
    const [plugin] = pod.containers;
    const configuration = egressConfigurationOf(named(sidecar, 'ConfigMap', 'plugin-egress'), egress!);

    it('is without a fault', () => {
      allChecks.wiring(sidecar);
      allChecks.hardening(sidecar);
      allChecks.environment(sidecar);
      expectFiles(sidecar, pod, [...filesNamedBy(configuration), '/etc/session-egress/egress.yaml']);
    });

    it('runs for as long as the plug-in, which reaches it at the base URL that it is given', () => {
      expect(egress).toMatchObject({ name: 'egress', restartPolicy: 'Always' });
      const { host, port } = configuration.listen;
      expect(plugin?.env).toContainEqual({ name: 'GATEWAY_BASE_URL', value: `http://${host}:${port}` });
      expect(egress?.startupProbe?.httpGet).toEqual({ path: '/readyz', port: 'management' });
    });

    it('keeps its keys and its token from the plug-in, and its port from everybody else', () => {
      expect(plugin?.volumeMounts ?? []).toEqual([]);
      expect(configuration.listen.host).toBe('127.0.0.1');
    });

    it('is let out as a consumer is, which calls the broker and the gateway itself', () => {
      const { podSelector, ...ways } = named(sidecar, 'NetworkPolicy', 'plugin').spec;
      expect(selects(podSelector, named(sidecar, 'Deployment', 'plugin').spec.template.metadata.labels)).toBe(true);
      const { podSelector: _consumer, ...ofConsumer } = named(consumer, 'NetworkPolicy', 'checkout').spec;
      expect(ways).toEqual(ofConsumer);
      expect(configuration.gateway.baseUrl.port || '443').toBe('443');
    });

    it('may read sessions, by the labels of its pod and by the account that the broker knows', () => {
      const labels = { 'session-broker/consumer': 'true' };
      expect(named(sidecar, 'Deployment', 'plugin').spec.template.metadata.labels).toMatchObject(labels);
      const { auth } = brokerConfigurationOf(withEgress);
      const caller = `system:serviceaccount:shop:${String(pod.serviceAccountName)}`;
      const policy = auth.policies.find((one) => one.caller === caller);
      expect(policy?.allow).toEqual(['session:read', 'session:reject', 'payload:decrypt']);
      const { metadata } = named(withEgress, 'Service', 'session-broker');
      expect(configuration.broker.url.href).toBe(`http://${metadata.name}.${String(metadata.namespace)}.svc/`);
    });
  });
});
