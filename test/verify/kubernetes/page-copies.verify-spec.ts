import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { parse } from 'yaml';
import { describeWith } from '../../interop/availability.js';
import { allChecks } from './all-checks.js';
import { configurationOf } from './broker-checks.js';
import { egressConfigurationOf } from './egress-checks.js';
import { template } from './helm-chart.js';
import { kubernetesPrograms, root, runLine } from './kubernetes-programs.js';
import { type Manifest, named, type NetworkRule, ofKind, type PodSpec, render } from './manifests.js';
import { blockOf, blocksOf, page, sectionOf, withEgressPolicies } from './page-blocks.js';
import { filesNamedBy } from './program-checks.js';

type Kustomization = Readonly<Record<string, unknown>>;
interface Patched {
  readonly patches: readonly object[];
}

const OVERLAYS = 'deploy/kubernetes/overlays';
const STORE = `  - id: store
    serviceCodeFile: /run/secrets/store/service-code
    clientKeyFiles: [/run/secrets/store/client.jwk.json]
    gateway: { baseUrl: 'https://gateway.bank' }
`;
const REDIS = 'Redis';

describeWith(kubernetesPrograms, 'copies of the overlays, changed as docs/kubernetes.md says it', () => {
  let folder: string;
  const at = (path: string): string => join(folder, OVERLAYS, path);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'copies-'));
    cpSync(join(root, 'deploy'), join(folder, 'deploy'), { recursive: true });
    const copies = page.match(/cp -r \S+\/(?:overlays|examples)\/\S+ \S+/g) ?? [];
    for (const line of copies) runLine(line, folder);
    edit('shop-egress/kustomization.yaml', /\.\.\/production\b/, '../shop');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function edit(file: string, what: RegExp, by: string): void {
    const text = readFileSync(at(file), 'utf8');
    expect(text).toMatch(what);
    writeFileSync(at(file), text.replace(what, by));
  }

  /** The block's members replace those of the file, except patches, which are added. */
  function paste(copy: string, block: string): void {
    const file = at(`${copy}/kustomization.yaml`);
    const { patches = [], ...own } = parse(readFileSync(file, 'utf8')) as Kustomization & Partial<Patched>;
    const pasted = parse(block) as Kustomization & Partial<Patched>;
    writeFileSync(file, JSON.stringify({ ...own, ...pasted, patches: [...patches, ...(pasted.patches ?? [])] }));
  }

  function stepLine(what: RegExp): string {
    const lines = blocksOf('From nothing to a broker that serves', 'sh').join('\n').split('\n');
    return lines.find((line) => what.test(line)) ?? '';
  }

  function pastePolicies(): void {
    const file = at('shop/broker.yaml');
    writeFileSync(file, withEgressPolicies(readFileSync(file, 'utf8')));
  }

  describe('with an egress', () => {
    it('have the configuration of the broker that is in the copy beneath', () => {
      edit('shop/broker.yaml', /$/, STORE);
      edit('shop/broker.yaml', /redis:6379/, 'redis.internal:6379');
      const { data } = named(render(at('shop-egress')), 'ConfigMap', 'session-broker');
      expect(data).toEqual({ 'broker.yaml': readFileSync(at('shop/broker.yaml'), 'utf8') });
      expect(data).toEqual(named(render(at('shop')), 'ConfigMap', 'session-broker').data);
    });

    it('have an egress that may do nothing until its policies are pasted, and has no fault then', () => {
      const missing = ['session:read', 'session:reject', 'payload:decrypt'].map(
        (permission) => `the broker does not let it ${permission} for shop`,
      );
      expect(new Set(allChecks['egress']?.(render(at('shop-egress'))))).toEqual(new Set(missing));
      pastePolicies();
      const manifests = render(at('shop-egress'));
      const faults = Object.values(allChecks).flatMap((faultsOf) => faultsOf(manifests));
      expect(faults).toEqual([]);
    });

    it('wait for no Secret without clients that authorize for themselves, and read none', () => {
      const section = sectionOf('An egress');
      const [, member = 'none', client = 'none'] =
        /Without such clients, take `(\w+)` and the client `(\w+)` out of\n`egress.yaml`/.exec(section) ?? [];
      edit('shop-egress/egress.yaml', new RegExp(`^ +${member}: .*\n`, 'm'), '');
      edit('shop-egress/egress.yaml', new RegExp(`^.*authorizes for itself[.]\n +- name: ${client}\n[^]*`, 'm'), '');
      const manifests = render(at('shop-egress'));
      const { containers, volumes = [] } = named(manifests, 'Deployment', 'session-egress').spec.template.spec;
      const configuration = egressConfigurationOf(named(manifests, 'ConfigMap', 'session-egress'), containers[0]!);
      expect(filesNamedBy(configuration).filter((file) => file.startsWith('/run/secrets'))).toEqual([]);
      const secrets = volumes.flatMap(({ secret }) => secret ?? []);
      expect(secrets).toEqual([expect.objectContaining({ secretName: 'session-egress-keys', optional: true })]);
    });

    it('are looked through by step 3 for what was not replaced, the egress’s part too', () => {
      const steps = blocksOf('From nothing to a broker that serves', 'sh').join('\n');
      const check = steps.split('\n').find((line) => line.includes('| grep')) ?? '';
      const found = runLine(check, folder);
      expect(found).toContain('sha256: 7d201470e403');
      expect(found.match(/gateway\.example/g)).toHaveLength(3);
      expect(found.match(/image: session-broker/g)).toHaveLength(4);
      edit('shop-egress/egress.yaml', /7d201470e403/, '000000000000');
      expect(runLine(check, folder)).not.toContain('sha256:');
    });

    it('have the label of the outermost copy, and each image of its own copy: step 3 shows that they differ', () => {
      const block = blockOf('What to set for production', 'yaml', 'app.kubernetes.io/version');
      const release = (copy: string, version: string): void => {
        const images = [{ name: 'session-broker', newName: 'registry.bank/session-broker', newTag: version }];
        paste(copy, JSON.stringify({ ...(parse(block.replace('1.2.3', version)) as object), images }));
      };
      const pods = (): readonly unknown[] =>
        ofKind(render(at('shop-egress')), 'Deployment').map(({ metadata, spec: { template: pod } }) => [
          metadata.name,
          pod.spec.containers[0]?.image,
          pod.metadata.labels?.['app.kubernetes.io/version'],
        ]);
      release('shop', '1.2.3');
      release('shop-egress', '1.2.4');
      expect(pods()).toEqual([
        ['session-broker', 'registry.bank/session-broker:1.2.3', '1.2.4'],
        ['session-egress', 'registry.bank/session-broker:1.2.4', '1.2.4'],
      ]);
      expect(shown(/image|version/)).toHaveLength(5);
      release('shop', '1.2.4');
      edit(
        'shop-doctor/kustomization.yaml',
        /newName: session-broker/,
        'newName: registry.bank/session-broker, newTag: 1.2.4',
      );
      expect(pods()).toContainEqual(['session-broker', 'registry.bank/session-broker:1.2.4', '1.2.4']);
      expect(shown(/image|version/)).toEqual([
        'app.kubernetes.io/version: 1.2.4',
        'image: registry.bank/session-broker:1.2.4',
      ]);
    });

    /** What the last command of step 3 prints. */
    function shown(kind: RegExp): readonly string[] {
      const line = stepLine(/sort -u$/);
      return runLine(line, folder)
        .split('\n')
        .filter((text) => kind.test(text));
    }

    it('have both configurations read by step 3', () => {
      const line = stepLine(/config check --structure/).replace('npx session-broker', 'echo');
      const read = ['shop-egress/egress.yaml', 'shop/broker.yaml'].map((file) => `${OVERLAYS}/${file}`);
      expect(runLine(line, folder).trim().split('\n').sort()).toEqual(
        read.map((file) => `config check --structure ${file}`),
      );
    });

    it('pull from a private registry when each copy has the component', () => {
      const section = sectionOf('A private registry');
      const [, component = ''] = /add `([^`]+)` to `components`/.exec(section) ?? [];
      const pullers = (): readonly string[] =>
        ofKind(render(at('shop-egress')), 'ServiceAccount')
          .filter((account) => 'imagePullSecrets' in account)
          .map(({ metadata }) => metadata.name);
      edit('shop/kustomization.yaml', /^components: \[/m, `components: [${component}, `);
      expect(pullers()).toEqual(['session-broker']);
      expect(section).toContain('add the component at the end of `components` in [its copy](#an-egress) as well');
      edit('shop-egress/kustomization.yaml', /^(components: \[.*)\]$/m, `$1, ${component}]`);
      expect(pullers()).toEqual(['session-broker', 'session-egress']);
    });
  });

  describe('with another merchant', () => {
    const HEADING = 'Another merchant';

    function mountsOf({ containers, volumes = [] }: PodSpec): ReadonlyMap<string, unknown> {
      const mounts = containers.flatMap(({ volumeMounts = [] }) => volumeMounts);
      return new Map(
        mounts.map(({ name, mountPath, readOnly }) => [
          mountPath,
          { readOnly, secret: volumes.find((volume) => volume.name === name)?.secret },
        ]),
      );
    }

    it('mount its Secret in the pods of the broker and in that of the doctor', () => {
      edit('shop/broker.yaml', /$/, STORE);
      const pods = (): readonly PodSpec[] => [
        named(render(at('shop')), 'Deployment', 'session-broker').spec.template.spec,
        named(render(at('shop-doctor')), 'Pod', 'session-broker-doctor').spec as unknown as PodSpec,
      ];
      const manifests = render(at('shop'));
      const wanted = filesNamedBy(configurationOf(manifests, pods()[0]!.containers)).map((file) => dirname(file));
      expect(wanted).toContain('/run/secrets/store');
      expect(pods().map((pod) => mountsOf(pod).has('/run/secrets/store'))).toEqual([false, false]);
      paste('shop', blockOf(HEADING, 'yaml', 'kind: Deployment'));
      paste('shop-doctor', blockOf(HEADING, 'yaml', 'kind: Pod'));
      const secret = { secretName: 'session-broker-merchant-store', defaultMode: 0o440 };
      for (const pod of pods()) {
        expect(mountsOf(pod).get('/run/secrets/store')).toEqual({ readOnly: true, secret });
        expect(mountsOf(pod).get('/run/secrets/shop')).toBeDefined();
      }
    });

    it('have its Secret made with the entries that are mounted, from a folder outside of the clone', () => {
      const [made = '', ...others] = blocksOf(HEADING, 'sh').filter((block) => block.includes('create secret'));
      expect(others).toEqual([]);
      const [, namespace, name] = /^kubectl -n (\S+) create secret generic (\S+)/.exec(made) ?? [];
      expect([namespace, name]).toEqual(['session-broker', 'session-broker-merchant-store']);
      const files = [...made.matchAll(/--from-file=(\S+)/g)].map(([, file = '']) => file);
      const named = [...STORE.matchAll(/\/run\/secrets\/store\/([\w.-]+)/g)].map(([, entry]) => entry);
      expect(files.map((file) => basename(file))).toEqual(named);
      expect(new Set(files.map((file) => dirname(file)))).toEqual(new Set(['../store-secrets']));
      expect(blockOf(HEADING, 'sh', 'keys generate')).toContain(`--out ${files[1]}`);
    });

    it('are asked for the state of each merchant with the token of an account that the policies know', () => {
      const line = blockOf(HEADING, 'sh', 'session-broker status');
      const [, namespace, account, audience] = /-n (\S+) create token (\S+) --audience (\S+) \|/.exec(line) ?? [];
      const manifests = render(at('shop'));
      const { containers } = named(manifests, 'Deployment', 'session-broker').spec.template.spec;
      const { auth, http } = configurationOf(manifests, containers);
      expect(auth.jwt?.audience).toBe(audience);
      const policy = auth.policies.find(({ caller }) => caller === `system:serviceaccount:${namespace}:${account}`);
      expect(policy?.allow).toContain('session:read');
      expect(line).toContain(` --url http://127.0.0.1:${http.port} --token-file /dev/stdin`);
    });

    it('have an operator make its Secret, in a copy of the component, as the chart does', () => {
      cpSync(at('production-mtls'), at('shop'), { recursive: true });
      edit('shop/broker.yaml', /$/, STORE);
      const secrets = (manifests: readonly Manifest[]): ReadonlyMap<string, unknown> =>
        new Map(
          ofKind(manifests, 'ExternalSecret').map(({ metadata, spec }) => [
            metadata.name,
            { ...spec, data: new Map(spec.data.map((entry) => [entry.secretKey, entry])) },
          ]),
        );
      const before = secrets(render(at('shop')));
      runLine(blockOf(HEADING, 'sh', 'external-secrets'), folder);
      const section = sectionOf(HEADING);
      const [, names = ''] = /`resources: (\[[^`]+)`/.exec(section) ?? [];
      edit('shop/external-secrets/kustomization.yaml', /resources: .*/, `resources: ${names}`);
      const [, own = '', shared = 'none'] = /in `components`, `([^`]+)` in the place of\n`([^`]+)`/.exec(section) ?? [];
      edit('shop/kustomization.yaml', new RegExp(`${shared}(?=[,\\]])`), own);
      paste('shop', blockOf(HEADING, 'yaml', 'kind: Deployment'));
      const manifests = render(at('shop'));
      expect(allChecks['wiring']?.(manifests)).toEqual([]);
      const made = secrets(manifests);
      expect([...made.keys()].sort()).toEqual([...before.keys(), 'session-broker-merchant-store'].sort());
      const { spec } = named(manifests, 'ExternalSecret', 'session-broker-merchant-store');
      const ofShop = named(manifests, 'ExternalSecret', 'session-broker-merchant-shop').spec;
      expect(spec).toEqual(parse(JSON.stringify(ofShop).replaceAll('shop', 'store')));
      const values = {
        broker: { merchants: ['shop', 'store'] },
        externalSecrets: { enabled: true, store: { name: 'vault' } },
      };
      expect(secrets(template('session-broker', [], [values]))).toEqual(made);
    });

    it('are what the chart makes of the value on the page', () => {
      const [, list = ''] = /`broker\.merchants: ([^`]+)`/.exec(sectionOf(HEADING)) ?? [];
      const rendered = template('session-broker', [], [{ broker: { merchants: parse(list) as unknown } }]);
      const pod = named(rendered, 'Deployment', 'session-broker').spec.template.spec;
      expect(mountsOf(pod).get('/run/secrets/store')).toMatchObject({
        secret: { secretName: 'session-broker-merchant-store' },
      });
    });
  });

  it('let Prometheus and the collector in and out elsewhere, for the egress too', () => {
    paste('shop-egress', blockOf('Monitoring', 'yaml', 'observability'));
    pastePolicies();
    const manifests = render(at('shop-egress'));
    const policies = ['session-broker', 'session-egress'].map((name) => named(manifests, 'NetworkPolicy', name).spec);
    const spacesOf = (rules: readonly NetworkRule[] = []): readonly (string | undefined)[] =>
      rules
        .flatMap(({ from = [], to = [] }) => [...from, ...to])
        .filter(({ podSelector }) =>
          /prometheus|opentelemetry-collector/.test(podSelector?.matchLabels?.['app.kubernetes.io/name'] ?? ''),
        )
        .map(({ namespaceSelector }) => namespaceSelector?.matchLabels?.['kubernetes.io/metadata.name']);
    for (const { ingress, egress } of policies) {
      expect([...spacesOf(ingress), ...spacesOf(egress)]).toEqual(['observability', 'observability']);
    }
    expect(JSON.stringify(policies)).not.toContain('"monitoring"');
    expect(JSON.stringify(policies).match(/observability/g)).toHaveLength(4);
  });

  it('let nobody past a proxy with an address of its own where the outermost copy names it, and the egress where another does', () => {
    const section = sectionOf('One address to the outside');
    expect(section).toContain(
      'Copy it into the outermost of your copies, and name it there, with an egress behind `components/egress`',
    );
    const ways = (): readonly (readonly [string, boolean])[] =>
      ['session-broker-gateway', 'session-egress-gateway'].map((name) => {
        const { egress } = named(render(at('shop-egress')), 'NetworkPolicy', name).spec;
        return [name, JSON.stringify(egress).includes('"egress-proxy"')];
      });
    const original = '../../components/fixed-address';
    edit('shop/kustomization.yaml', /^components: \[/m, `components: [${original}, `);
    expect(ways()).toEqual([
      ['session-broker-gateway', true],
      ['session-egress-gateway', false],
    ]);
    edit('shop/kustomization.yaml', /\.\.\/\.\.\/components\/fixed-address, /, '');
    runLine(`cp -r deploy/kubernetes/components/fixed-address ${OVERLAYS}/shop-egress/fixed-address`, folder);
    edit('shop-egress/kustomization.yaml', /components\/egress\]/, 'components/egress, fixed-address]');
    expect(ways()).toEqual([
      ['session-broker-gateway', true],
      ['session-egress-gateway', true],
    ]);
  });

  it('have the label that a Prometheus selects by, and the priority, on everything where the outermost copy has them', () => {
    edit(
      'shop-egress/kustomization.yaml',
      /^labels:\n/m,
      'labels:\n  - { pairs: { release: prometheus }, includeSelectors: false }\n',
    );
    edit('shop-egress/kustomization.yaml', /components\/egress\]/, 'components/egress, ../../components/priority]');
    const manifests = render(at('shop-egress'));
    const watched = [...ofKind(manifests, 'PodMonitor'), ...ofKind(manifests, 'PrometheusRule')];
    expect(watched.map(({ metadata: { name, labels } }) => [name, labels?.['release']])).toEqual([
      ['session-broker', 'prometheus'],
      ['session-egress', 'prometheus'],
      ['session-broker', 'prometheus'],
    ]);
    const priorities = ofKind(manifests, 'Deployment').map(({ spec }) => spec.template.spec.priorityClassName);
    expect(priorities).toEqual(['session-broker', 'session-broker']);
  });

  it('are looked through by step 3 for a list that is there twice, of which Kustomize takes the last', () => {
    const check = stepLine(/^find .*twice in/);
    expect(runLine(check, folder)).toBe('');
    const patches = blocksOf('Another merchant', 'yaml')[0] ?? '';
    edit('shop/kustomization.yaml', /$/, `${patches}\n${patches.replaceAll('store', 'kiosk')}\n`);
    expect(runLine(check, folder)).toBe(`twice in ${OVERLAYS}/shop/kustomization.yaml: patches:\n`);
    expect(JSON.stringify(render(at('shop')))).not.toContain('merchant-store');
  });

  it('are looked through by step 3 for a private registry that comes before the egress', () => {
    const check = stepLine(/before the egress/);
    edit('shop/kustomization.yaml', /^components: \[/m, 'components: [../../components/private-registry, ');
    edit('shop-egress/kustomization.yaml', /^(components: \[.*)\]$/m, '$1, ../../components/private-registry]');
    expect(runLine(check, folder)).toBe('');
    const [right, wrong] = [
      '[../../components/egress, ../../components/private-registry]',
      '\n  - ../../components/private-registry\n  - ../../components/egress',
    ];
    edit('shop-egress/kustomization.yaml', new RegExp(right.replaceAll(/[[\].]/g, '\\$&')), wrong);
    const file = `${OVERLAYS}/shop-egress/kustomization.yaml`;
    expect(runLine(check, folder)).toBe(`before the egress: private-registry in ${file}\n`);
  });

  it('are looked through by step 3 for what the egress wants too and shop alone has', () => {
    const check = stepLine(/in shop alone/);
    expect(runLine(check, folder)).toBe('');
    edit('shop/kustomization.yaml', /^components: \[/m, 'components: [../../components/private-registry, ');
    edit('shop/kustomization.yaml', /$/, '\n# labels of a Prometheus\n#   release: commented\n');
    expect(runLine(check, folder)).toBe('in shop alone: private-registry\n');
    edit('shop/kustomization.yaml', /$/, '\nlabels: [{ pairs: { release: prometheus } }]\n');
    expect(runLine(check, folder)).toBe('in shop alone: private-registry\nin shop alone: release:\n');
    edit('shop-egress/kustomization.yaml', /^(components: \[.*)\]$/m, '$1, ../../components/private-registry]');
    edit('shop-egress/kustomization.yaml', /$/, '\nlabels: [{ pairs: { release: prometheus } }]\n');
    expect(runLine(check, folder)).toBe('');
  });

  it('are looked through by step 3 for a folder that a configuration names and no pod mounts', () => {
    const check = stepLine(/not mounted/);
    expect(runLine(check, folder)).toBe('');
    edit('shop/broker.yaml', /$/, STORE);
    const missing = (): readonly string[] => runLine(check, folder).split('\n').filter(Boolean).sort();
    const inCopy = (copy: string): readonly string[] =>
      ['client.jwk.json', 'service-code'].map(
        (file) => `not mounted in ${OVERLAYS}/${copy}: /run/secrets/store/${file}`,
      );
    expect(missing()).toEqual(['shop-doctor', 'shop-egress', 'shop'].flatMap(inCopy).sort());
    paste('shop', blockOf('Another merchant', 'yaml', 'kind: Deployment'));
    expect(missing()).toEqual(inCopy('shop-doctor'));
    paste('shop-doctor', blockOf('Another merchant', 'yaml', 'kind: Pod'));
    expect(missing()).toEqual([]);
  });

  it('are looked through by step 3 for a namespace of Prometheus that the outermost copy does not have', () => {
    const spaces = (): string => runLine(stepLine(/prometheus\|opentelemetry/), folder);
    expect(spaces()).toBe('metadata.name: monitoring\n');
    paste('shop', blockOf('Monitoring', 'yaml', 'observability'));
    expect(spaces()).toBe('metadata.name: monitoring\nmetadata.name: observability\n');
    edit('shop/kustomization.yaml', /observability/g, 'monitoring');
    paste('shop-egress', blockOf('Monitoring', 'yaml', 'observability'));
    expect(spaces()).toBe('metadata.name: observability\n');
  });

  it('are looked through by step 3 for a copied component beside which the original is still named', () => {
    runLine(`cp -r deploy/kubernetes/components/external-secrets ${OVERLAYS}/shop/external-secrets`, folder);
    edit('shop/kustomization.yaml', /^components: \[/m, 'components: [../../components/external-secrets, ');
    const check = stepLine(/^find .*not named/);
    expect(runLine(check, folder)).toBe(`not named: ${OVERLAYS}/shop/external-secrets\n`);
    edit('shop/kustomization.yaml', /\.\.\/\.\.\/components\/external-secrets/, './external-secrets');
    expect(runLine(check, folder)).toBe('');
    edit('shop/kustomization.yaml', /^components: \[.*$/m, 'components:\n  - external-secrets');
    expect(runLine(check, folder)).toBe('');
  });

  it('have pods with the version that is said, and select them as before', () => {
    const before = named(render(at('shop')), 'Deployment', 'session-broker').spec.selector;
    const block = blockOf('What to set for production', 'yaml', 'app.kubernetes.io/version');
    const wanted = { 'app.kubernetes.io/version': '1.2.3', 'app.kubernetes.io/part-of': 'session-broker' };
    paste('shop', block);
    const { selector, template: pods } = named(render(at('shop')), 'Deployment', 'session-broker').spec;
    expect(pods.metadata.labels).toMatchObject(wanted);
    expect(selector).toEqual(before);
    paste('shop-egress', block);
    const labels = ofKind(render(at('shop-egress')), 'Deployment').map(({ spec }) => spec.template.metadata.labels);
    expect(labels).toEqual([expect.objectContaining(wanted), expect.objectContaining(wanted)]);
  });

  it('have a doctor with the volumes of the broker where that is known by certificates', () => {
    cpSync(at('production-mtls'), at('shop'), { recursive: true });
    paste('shop-doctor', blockOf('From nothing to a broker that serves', 'yaml', 'session-broker-doctor'));
    const { containers, volumes } = named(render(at('shop')), 'Deployment', 'session-broker').spec.template.spec;
    const doctor = named(render(at('shop-doctor')), 'Pod', 'session-broker-doctor').spec as unknown as PodSpec;
    expect(doctor.volumes).toEqual(volumes);
    expect(doctor.containers[0]?.volumeMounts).toEqual(containers[0]?.volumeMounts);
  });

  it('let the broker out to a Redis in another namespace', () => {
    const line = /cp -r \S+\/redis-outside \S+/.exec(page)?.[0] ?? '';
    runLine(line, folder);
    const check = stepLine(/^find .*not named/);
    expect(runLine(check, folder)).toBe(`not named: ${OVERLAYS}/shop/redis-outside\n`);
    edit('shop/kustomization.yaml', /^components: \[/m, 'components: [redis-outside, ');
    expect(runLine(check, folder)).toBe('');
    const block = blockOf(REDIS, 'yaml', 'podSelector').replaceAll(/^/gm, '    ');
    edit('shop/redis-outside/network.yaml', /^ {4}- to:[^]*$/m, `${block}\n`);
    const manifests = render(at('shop'));
    const { egress } = named(manifests, 'NetworkPolicy', 'session-broker-redis').spec;
    expect(egress?.flatMap(({ to = [] }) => to)).toEqual([
      expect.objectContaining({
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'data' } },
        podSelector: { matchLabels: { 'app.kubernetes.io/name': 'redis' } },
      }),
    ]);
    expect(JSON.stringify(egress)).not.toContain('ipBlock');
    expect(allChecks['models']?.(manifests)).toEqual([]);
  });

  it('have the authority of Redis from a store of Secrets, and the certificate of the broker for it, with Kustomize as with the chart', () => {
    cpSync(at('production-mtls'), at('shop'), { recursive: true });
    const entries = (manifests: readonly Manifest[]): readonly unknown[] =>
      named(manifests, 'ExternalSecret', 'session-broker-redis').spec.data;
    expect(entries(render(at('shop')))).toHaveLength(1);
    paste('shop', blockOf(REDIS, 'yaml', 'ca.crt'));
    const made = entries(render(at('shop')));
    expect(made).toContainEqual({
      secretKey: 'ca.crt',
      remoteRef: { key: 'session-broker/redis', property: 'ca-crt' },
    });
    const values = { externalSecrets: { enabled: true, store: { name: 'vault' } } };
    const [[, name = '', value = ''] = [], [, certificate = ''] = []] = [
      ...sectionOf(REDIS).matchAll(/`externalSecrets\.(\w+): (\w+)` of the chart/g),
    ];
    const withAuthority = { externalSecrets: { ...values.externalSecrets, [name]: parse(value) as unknown } };
    const ofChart = entries(template('session-broker', [], [withAuthority]));
    expect(new Set(ofChart)).toEqual(new Set(made));
    expect(entries(template('session-broker', [], [values]))).toHaveLength(1);
    const withCertificate = { externalSecrets: { ...values.externalSecrets, [certificate]: true } };
    expect(entries(template('session-broker', [], [withCertificate])).slice(1)).toEqual([
      { secretKey: 'tls.crt', remoteRef: { key: 'session-broker/redis', property: 'tls-crt' } },
      { secretKey: 'tls.key', remoteRef: { key: 'session-broker/redis', property: 'tls-key' } },
    ]);
  });
});
