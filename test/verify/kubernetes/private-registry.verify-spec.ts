import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { describeWith } from '../../interop/availability.js';
import { template } from './helm-chart.js';
import { kubernetesPrograms, root, runLine } from './kubernetes-programs.js';
import { type Manifest, named, ofKind, parsed, render } from './manifests.js';

const page = readFileSync(join(root, 'docs/kubernetes.md'), 'utf8');
const [, section = ''] = /^## A private registry$([^]*?)^## /m.exec(page) ?? [];
const [, command = ''] = /```sh\n(kubectl .+)\n```/.exec(section) ?? [];
const PASSWORD = 'a "word" of $HOME';

interface DockerConfig {
  readonly auths: Readonly<Record<string, object>>;
}

const pullSecretsOf = (account: object): unknown => (account as { imagePullSecrets?: unknown }).imagePullSecrets;

describeWith(kubernetesPrograms, 'what docs/kubernetes.md says of a private registry', () => {
  let folder: string;
  let secret: Manifest;

  /** As on the page, in a clone next to the folder of the secrets, and without the cluster. */
  function secretOfPage(): Manifest {
    const [, file = ''] = /\$\(cat (\S+)\)/.exec(command) ?? [];
    const clone = join(folder, 'clone');
    mkdirSync(clone);
    mkdirSync(dirname(join(clone, file)));
    writeFileSync(join(clone, file), `${PASSWORD}\n`);
    const [made] = parsed(runLine(`${command} --dry-run=client -o yaml`, clone));
    if (made === undefined) throw new Error('kubectl made nothing');
    return made;
  }

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'registry-'));
    secret = secretOfPage();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('makes a Secret of the kind that pulls images, in the namespace of step 4, with the password as it is', () => {
    expect(secret).toMatchObject({ kind: 'Secret', type: 'kubernetes.io/dockerconfigjson' });
    const [namespace] = parsed(readFileSync(join(root, 'deploy/kubernetes/base/namespace.yaml'), 'utf8'));
    expect(secret.metadata.namespace).toBe(namespace?.metadata.name);
    const content = Buffer.from(secret.data?.['.dockerconfigjson'] ?? '', 'base64').toString();
    const { auths } = JSON.parse(content) as DockerConfig;
    expect(auths).toEqual({
      'registry.example': expect.objectContaining({ username: 'puller', password: PASSWORD }),
    });
  });

  it('reads the password where step 5 has its files, and not in the clone', () => {
    const [, made = 'nowhere'] = /^ +mkdir -m 700 (\S+)$/m.exec(page) ?? [];
    expect(command).toContain(`$(cat ${made}/registry-password)`);
  });

  it('names the component that has the accounts of broker, egress and doctor pull with it', () => {
    const [, component = ''] = /add `([^`]+)` to `components`/.exec(section) ?? [];
    cpSync(join(root, 'deploy'), join(folder, 'deploy'), { recursive: true });
    const copy = join(folder, 'deploy/kubernetes/overlays/shop');
    cpSync(join(root, 'deploy/kubernetes/overlays/production-egress'), copy, { recursive: true });
    const file = join(copy, 'kustomization.yaml');
    const kustomization = parse(readFileSync(file, 'utf8')) as { components?: readonly string[] };
    const components = [...(kustomization.components ?? []), component];
    writeFileSync(file, JSON.stringify({ ...kustomization, components }));
    const accounts = ofKind(render(copy), 'ServiceAccount');
    expect(accounts.map(({ metadata }) => metadata.name).sort()).toEqual(['session-broker', 'session-egress']);
    expect(accounts.map(pullSecretsOf)).toEqual(accounts.map(() => [{ name: secret.metadata.name }]));
    const doctor = named(render(join(root, 'deploy/kubernetes/examples/doctor')), 'Pod', 'session-broker-doctor');
    const { serviceAccountName } = doctor.spec as { serviceAccountName?: string };
    expect(accounts.map(({ metadata }) => metadata.name)).toContain(serviceAccountName);
  });

  it('names the value that does the same with the chart', () => {
    const [, name = '', list = ''] = /With the chart, set `image\.(\w+): ([^`]+)`/.exec(section) ?? [];
    const values = [{ image: { [name]: parse(list) as unknown } }];
    const egress = join(root, 'deploy/helm/examples/egress.yaml');
    const accounts = ofKind(template('session-broker', [egress], values), 'ServiceAccount');
    expect(accounts).toHaveLength(2);
    expect(accounts.map(pullSecretsOf)).toEqual(accounts.map(() => [{ name: secret.metadata.name }]));
  });
});
