import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith } from '../../interop/availability.js';
import { kubernetesPrograms, root, run } from './kubernetes-programs.js';
import { madeByOthers, named, parsed, render } from './manifests.js';

const [, path = ''] = readFileSync(join(root, 'docs/kubernetes.md'), 'utf8').split(
  /^## (?:From nothing to a broker that serves|A demo)$/m,
);
/** What the steps paste into a shell, without their comments. */
const commands = [...path.matchAll(/```sh\n([^]*?)```/g)]
  .flatMap(([, block = '']) => block.split('\n'))
  .map((line) => line.replace(/ +#.*/, '').trim())
  .filter((line) => line !== '');

describeWith(kubernetesPrograms, 'the steps from nothing to a broker that serves', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'installation-'));
    cpSync(join(root, 'deploy/kubernetes'), join(folder, 'deploy/kubernetes'), { recursive: true });
    cpSync(join(root, 'deploy/grafana'), join(folder, 'deploy/grafana'), { recursive: true });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('begin with a copy that renders to what the overlay renders to', () => {
    const [from = '', to = ''] = /^cp -r (\S+) (\S+)$/.exec(commands[0] ?? '')?.slice(1) ?? [];
    cpSync(join(folder, from), join(folder, to), { recursive: true });
    expect(render(join(folder, to))).toEqual(render(join(root, from)));
    const applied = commands.flatMap((line) => /(?:apply|delete) -[kf] (\S+)/.exec(line)?.[1] ?? []);
    expect(applied.filter((file) => !existsSync(join(folder, file)))).toEqual([]);
    expect(applied).toContain(to);
  });

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

  /** What `kubectl` would make of it, with files of the names that it wants. */
  function secretOf(command: string): object {
    const args = command
      .split(' ')
      .slice(1)
      .map((word) => word.replace(/^--from-file=(.+)$/, (_, file: string) => `--from-file=${file}=${fileOf(file)}`));
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
