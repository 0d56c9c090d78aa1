import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { describeWith } from '../../interop/availability.js';
import { kubernetesPrograms, root, run } from './kubernetes-programs.js';
import { madeByOthers, named, parsed, render } from './manifests.js';

const [, path = ''] = readFileSync(join(root, 'docs/kubernetes.md'), 'utf8').split(
  /^## (?:From nothing to a broker that serves|A private registry)$/m,
);
/** What the steps paste into a shell, without comments. */
const commands = [...path.matchAll(/```sh\n([^]*?)```/g)]
  .flatMap(([, block = '']) => block.split('\n'))
  .map((line) => line.replace(/ +#.*/, '').trim())
  .filter((line) => line !== '');
/** What the steps copy to be changed, without the components, which not everyone needs. */
const copies = commands
  .map((line) => /^cp -r (\S+) (\S+)$/.exec(line))
  .flatMap((words) => (words === null ? [] : [{ from: words[1] ?? '', to: words[2] ?? '' }]))
  .filter(({ from }) => !from.includes('/components/'));
/** The default of `store.keyPrefix`: docs/configuration.md. */
const PREFIX = /`store\.keyPrefix` +\| \S+ +\| `([^`]+)`/.exec(
  readFileSync(join(root, 'docs/configuration.md'), 'utf8'),
)?.[1];

describeWith(kubernetesPrograms, 'the steps from nothing to a broker that serves', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'installation-'));
    cpSync(join(root, 'deploy/kubernetes'), join(folder, 'deploy/kubernetes'), { recursive: true });
    cpSync(join(root, 'deploy/grafana'), join(folder, 'deploy/grafana'), { recursive: true });
    for (const { from, to } of copies) cpSync(join(folder, from), join(folder, to), { recursive: true });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('begin with copies that render to what they are copies of', () => {
    const applied = commands.flatMap((line) => /(?:apply|delete) -[kf] (\S+)/.exec(line)?.[1] ?? []);
    for (const { from, to } of copies) {
      expect(render(join(folder, to))).toEqual(render(join(root, from)));
      expect(applied).toContain(to);
    }
    expect(copies.map(({ from }) => basename(from))).toEqual(['production', 'doctor']);
    expect(applied.filter((file) => !existsSync(join(folder, file)))).toEqual([]);
  });

  it('have all that is to be replaced in the copies, and none of it in a file that two copies share', () => {
    const table = path.split('\n').filter((line) => line.startsWith('   |'));
    const files = table.flatMap((row) => [...row.matchAll(/`([\w-]+\.yaml)`/g)].map(([, file = '']) => file));
    const [production] = copies;
    expect(new Set(files)).toEqual(
      new Set(['kustomization.yaml', 'broker.yaml', 'gateway-network.yaml', 'api-server-network.yaml']),
    );
    expect(files.filter((file) => !existsSync(join(folder, production?.to ?? '', file)))).toEqual([]);
  });

  it('find each thing that was not replaced, the image of the doctor too, and nothing when all of it was', () => {
    const check = commands.find((line) => line.includes('| grep')) ?? '';
    const [, start = 'none'] = / in deploy\/kubernetes\/overlays\/(\w+)\*;/.exec(check) ?? [];
    const names = readdirSync(join(folder, 'deploy/kubernetes/overlays')).filter((name) => name.startsWith(start));
    const pattern = new RegExp(/grep -nE '([^']+)'/.exec(check)?.[1] ?? '$^', 'g');
    const found = (): readonly (readonly string[])[] =>
      names.map((name) => {
        const text = run('kubectl', ['kustomize', join(folder, 'deploy/kubernetes/overlays', name)]);
        return [...new Set(text.match(pattern))].sort();
      });
    const image = 'image: session-broker';
    expect(found()).toEqual([['192.0.2.', '203.0.113.', 'gateway.example', image], [image]]);
    for (const { to } of copies) replaceAll(join(folder, to));
    expect(found()).toEqual([[], []]);
  });

  it('take a component along that is copied into the overlay', () => {
    const line = /^ +(cp -r \S+components\S+ \S+)/m.exec(path)?.[1] ?? '';
    const [from = '', to = ''] = line.split(' ').slice(2);
    cpSync(join(folder, from), join(folder, to), { recursive: true });
    const overlay = join(folder, to, '..');
    edit(join(overlay, 'kustomization.yaml'), /components: \[/, `components: [${basename(to)}, `);
    expect(named(render(overlay), 'NetworkPolicy', 'session-broker-redis').spec.policyTypes).toEqual(['Egress']);
  });

  it('know Redis by the user and the prefix of the line that makes the user', () => {
    const guide = readFileSync(join(root, 'docs/redis.md'), 'utf8');
    const [, user, keys, channels] = /^ACL SETUSER (\S+) on >password ~(\S+):\* &(\S+):\* /m.exec(guide) ?? [];
    for (const overlay of ['production', 'production-mtls']) {
      const file = join(root, 'deploy/kubernetes/overlays', overlay, 'broker.yaml');
      const { store } = parse(readFileSync(file, 'utf8')) as { store: { username: string; keyPrefix?: string } };
      const { username, keyPrefix = PREFIX } = store;
      expect({ user, keys, channels }).toEqual({ user: username, keys: keyPrefix, channels: keyPrefix });
    }
    expect(path).toContain('(redis.md#rights)');
  });

  it('keep secrets out of the clone', () => {
    const files = commands.flatMap((line) => [...line.matchAll(/--(?:from-file=|out )(\S+)/g)]);
    expect(files.length).toBeGreaterThan(4);
    expect(files.map(([, file = '']) => file).filter((file) => !file.startsWith('../'))).toEqual([]);
  });

  it('make the namespace of the first consumer, which the policy of the overlay names', () => {
    const label = commands.findIndex((line) => line.startsWith('kubectl label namespace'));
    const namespace = commands[label]?.split(' ')[3] ?? '';
    expect(commands[label - 1]).toContain(`kubectl create namespace ${namespace}`);
    const text = readFileSync(join(root, 'deploy/kubernetes/overlays/production/broker.yaml'), 'utf8');
    expect(text).toContain(`system:serviceaccount:${namespace}:`);
  });

  /** As step 2 says. */
  function replaceAll(copy: string): void {
    edit(join(copy, 'kustomization.yaml'), /newName: session-broker/, 'newName: registry.internal/session-broker');
    if (!existsSync(join(copy, 'broker.yaml'))) return;
    edit(join(copy, 'broker.yaml'), /gateway\.example/, 'gateway.bank');
    edit(join(copy, 'gateway-network.yaml'), /cidr: \S+/, 'cidr: 10.1.0.0/24');
    edit(join(copy, 'api-server-network.yaml'), /cidr: \S+/, 'cidr: 10.2.0.1/32');
  }

  function edit(file: string, what: RegExp, by: string): void {
    const text = readFileSync(file, 'utf8');
    expect(text).toMatch(what);
    writeFileSync(file, text.replace(what, by));
  }

  it('fail where they say it, when the copy is outside of the tree', () => {
    const elsewhere = join(folder, 'elsewhere');
    cpSync(join(root, 'deploy/kubernetes/overlays/production'), elsewhere, { recursive: true });
    const [said = 'nothing'] = /accumulating resources from '[^']+'/.exec(path) ?? [];
    expect(() => render(elsewhere)).toThrow(said);
  });

  it('make each Secret that the production overlay mounts, with the entries that it wants', () => {
    const made = commands.filter((line) => line.includes('create secret')).map(secretOf);
    expect(made).toEqual(
      ['session-broker-merchant-shop', 'session-broker-redis'].map((name) => ({
        name,
        namespace: 'session-broker',
        entries: [...(madeByOthers.get(name) ?? [])].sort(),
      })),
    );
  });

  /** What `kubectl` would make of it, given files with the names that it wants. */
  function secretOf(command: string): object {
    const args = command
      .split(' ')
      .slice(1)
      .map((word) => word.replace(/^--from-file=(.+)$/, (_, file: string) => `--from-file=${fileOf(basename(file))}`));
    const [secret] = parsed(run('kubectl', [...args, '--dry-run=client', '-o', 'yaml']));
    const { name, namespace } = secret?.metadata ?? {};
    return { name, namespace, entries: Object.keys(secret?.data ?? {}).sort() };
  }

  function fileOf(name: string): string {
    const file = join(folder, name);
    writeFileSync(file, 'x');
    return file;
  }

  it('wait for pods by the names that they have', () => {
    const waited = commands.flatMap((line) => /(pod|deployment)\/(\S+)/.exec(line)?.slice(1).join('/') ?? []);
    const doctor = named(render(join(root, 'deploy/kubernetes/examples/doctor')), 'Pod', 'session-broker-doctor');
    expect(new Set(waited)).toEqual(new Set([`pod/${doctor.metadata.name}`, 'deployment/session-broker']));
  });
});
