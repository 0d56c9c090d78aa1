import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describeWith } from '#libs/testing';
import { chart, renderIntents, template, type Values, valuesOf } from './intents.js';
import { kubernetesPrograms, root, runLine } from './kubernetes-programs.js';
import { allChecks, egressConfigurationOf, filesNamedBy } from './manifest-checks.js';
import { folder, type Manifest, named, ofKind, parsed, render } from './manifests.js';
import { blockOf, blocksOf, page, sectionOf } from './page-blocks.js';

const ofChart = (values: object, intent = 'production'): readonly Manifest[] =>
  template('session-broker', [valuesOf(intent)], [values as Values]);
const withEgress = { egress: { enabled: true } };

describeWith(kubernetesPrograms, 'what docs/kubernetes.md has its readers set', () => {
  const { intents } = renderIntents();
  let copy: string;
  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), 'page-'));
    cpSync(join(root, 'deploy'), join(copy, 'deploy'), { recursive: true });
  });
  afterEach(() => rmSync(copy, { recursive: true }));

  it('is known to the chart, each value in the place of a component', () => {
    const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8')) as Values;
    const [, options = ''] = /Every option is a value of the chart:([^]*?)\n\n/.exec(page) ?? [];
    const names = [...options.matchAll(/`([\w.]+)`/g)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(10);
    const valueAt = (name = ''): unknown =>
      name.split('.').reduce<unknown>((outer, member) => (outer as Values | undefined)?.[member], values);
    expect(names.filter((name) => valueAt(name) === undefined)).toEqual([]);
  });

  it('is a kustomization over what is rendered, without Helm', () => {
    const own = join(copy, 'deploy/kubernetes/shop');
    mkdirSync(own);
    writeFileSync(join(own, 'kustomization.yaml'), blockOf('Without Helm', 'yaml', 'behavior: replace'));
    const text = readFileSync(join(folder, 'production/broker.yaml'), 'utf8').replace(
      'gateway.example',
      'gateway.bank',
    );
    writeFileSync(join(own, 'broker.yaml'), text);
    const manifests = render(own);
    for (const expectRight of Object.values(allChecks)) expectRight(manifests);
    expect(manifests).toHaveLength(intents.production.length);
    expect(named(manifests, 'ConfigMap', 'session-broker').data).toEqual({ 'broker.yaml': text });
    expect(named(manifests, 'Deployment', 'session-broker').spec.template.spec.containers).toMatchObject([
      { image: 'registry.internal/session-broker:1.2.3' },
    ]);
    expect(JSON.stringify(ofKind(manifests, 'NetworkPolicy'))).not.toMatch(/203\.0\.113|192\.0\.2/);
  });

  it('is an egress that waits for no Secret without clients that authorize for themselves, and reads none', () => {
    const [, member = 'none', client = 'none'] =
      /Without such clients, take `(\w+)` and the client `(\w+)` out of\s`egress.yaml`/.exec(sectionOf('An egress')) ??
      [];
    const configuration = readFileSync(join(folder, 'production-mtls/egress.yaml'), 'utf8')
      .replace(new RegExp(`^ +${member}: .*\n`, 'm'), '')
      .replace(new RegExp(`^.*authorizes for itself[.]\n +- name: ${client}\n[^]*`, 'm'), '');
    const manifests = ofChart({ egress: { configuration } }, 'production-mtls');
    const { containers, volumes = [] } = named(manifests, 'Deployment', 'session-egress').spec.template.spec;
    const read = egressConfigurationOf(named(manifests, 'ConfigMap', 'session-egress'), containers[0]!);
    expect(filesNamedBy(read).filter((file) => file.startsWith('/run/secrets'))).toEqual([]);
    const secrets = volumes.flatMap(({ secret }) => secret ?? []);
    expect(secrets).toEqual([expect.objectContaining({ secretName: 'session-egress-keys', optional: true })]);
  });

  it('lets Prometheus and the collector in and out elsewhere, for the egress too', () => {
    const values = parse(blockOf('Monitoring', 'yaml', 'observability')) as object;
    const policies = ofKind(ofChart({ ...withEgress, ...values }), 'NetworkPolicy');
    expect(JSON.stringify(policies)).not.toContain('"monitoring"');
    expect(JSON.stringify(policies).match(/observability/g)).toHaveLength(4);
  });

  describe('for another merchant', () => {
    const HEADING = 'Another merchant';
    const [, list = ''] = /`broker\.merchants: ([^`]+)`/.exec(sectionOf(HEADING)) ?? [];
    const broker = { merchants: parse(list) as unknown };

    it('has an operator make its Secret as that of the first one', () => {
      const secrets = ofKind(ofChart({ broker }, 'production-mtls'), 'ExternalSecret');
      const ofMerchant = (id: string): unknown =>
        named(secrets, 'ExternalSecret', `session-broker-merchant-${id}`).spec;
      expect(secrets).toHaveLength(3);
      expect(ofMerchant('store')).toEqual(parse(JSON.stringify(ofMerchant('shop')).replaceAll('shop', 'store')));
    });
  });

  describe('for Redis', () => {
    it('lets the broker out to one in another namespace', () => {
      const manifests = ofChart(parse(blockOf('Redis', 'yaml', 'podSelector')) as object);
      const { egress } = named(manifests, 'NetworkPolicy', 'session-broker-redis').spec;
      expect(JSON.stringify(egress)).not.toContain('ipBlock');
    });

    it('has its authority from a store of Secrets, and the certificate of the broker for it', () => {
      const entries = (externalSecrets: object): readonly unknown[] =>
        named(ofChart({ externalSecrets }, 'production-mtls'), 'ExternalSecret', 'session-broker-redis').spec.data;
      const [authority = '', certificate = ''] = [
        ...sectionOf('Redis').matchAll(/`externalSecrets\.(\w+): true`/g),
      ].map(([, name = '']) => name);
      const from = (secretKey: string): object => ({
        secretKey,
        remoteRef: { key: 'session-broker/redis', property: secretKey.replace('.', '-') },
      });
      expect(entries({})).toEqual([from('password')]);
      expect(entries({ [authority]: true })).toEqual([from('ca.crt'), from('password')]);
      expect(entries({ [certificate]: true })).toEqual(['password', 'tls.crt', 'tls.key'].map(from));
    });
  });

  describe('for a private registry', () => {
    const [command = ''] = blocksOf('A private registry', 'sh');
    const PASSWORD = 'a "word" of $HOME';

    it('is a Secret of the kind that pulls images, with the password as it is, beside the files of step 5', () => {
      const [, made = 'nowhere'] = /^ +mkdir -m 700 (\S+)$/m.exec(page) ?? [];
      const clone = join(copy, 'clone');
      mkdirSync(clone);
      mkdirSync(join(clone, made));
      writeFileSync(join(clone, made, 'registry-password'), `${PASSWORD}\n`);
      const [secret] = parsed(runLine(`${command} --dry-run=client -o yaml`, clone));
      expect(secret).toMatchObject({
        metadata: { namespace: 'session-broker' },
        type: 'kubernetes.io/dockerconfigjson',
      });
      const content = Buffer.from(secret?.data?.['.dockerconfigjson'] ?? '', 'base64').toString();
      const login = { username: 'puller', password: PASSWORD };
      expect(parse(content)).toEqual({ auths: { 'registry.example': expect.objectContaining(login) as object } });
    });
  });
});
