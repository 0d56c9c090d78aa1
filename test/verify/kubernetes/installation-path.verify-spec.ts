import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { describeWith, FakeClock } from '#libs/testing';
import { runCli } from '../../../apps/cli/src/program.js';
import { kubernetesPrograms, root, run, runLine } from './kubernetes-programs.js';
import { madeByOthers, type Manifest, parsed, render } from './manifests.js';

const [, path = ''] = readFileSync(join(root, 'docs/kubernetes.md'), 'utf8').split(
  /^## (?:From nothing to a broker that serves|A private registry)$/m,
);
/** What the steps paste into a shell, without comments. */
const commands = [...path.matchAll(/```sh\n([^]*?)```/g)]
  .flatMap(([, block = '']) => block.split('\n'))
  .map((line) => line.replace(/ +#.*/, '').trim())
  .filter((line) => line !== '');
/** The default of `store.keyPrefix`. */
const PREFIX = /`store\.keyPrefix` +\| \S+ +\| `([^`]+)`/.exec(
  readFileSync(join(root, 'docs/reference/broker-settings.md'), 'utf8'),
)?.[1];

describeWith(kubernetesPrograms, 'the steps from nothing to a broker that serves', () => {
  let folder: string;
  let clone: string;
  const line = (what: RegExp): string => commands.find((command) => what.test(command)) ?? '';
  /** By the line of the page, in a folder of the test. */
  async function init(): Promise<void> {
    const [, , ...words] = line(/^npx session-broker init/).split(' ');
    const say = (): void => undefined;
    const context = { environment: {}, signal: new AbortController().signal, clock: new FakeClock() };
    const args = words.map((word) => (word.startsWith('../') ? join(clone, word) : word));
    expect(await runCli(args, { ...context, terminal: { out: say, err: say } })).toBe(0);
  }
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'installation-'));
    clone = join(folder, 'clone');
    cpSync(join(root, 'deploy'), join(clone, 'deploy'), { recursive: true });
    await init();
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('begin with copies that are complete: what they apply is what is rendered for the production', () => {
    const applied = line(/^helm upgrade --install/).replace('upgrade --install', 'template');
    const objects = (manifests: readonly Manifest[]): readonly string[] =>
      manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
    const production = render(join(clone, 'deploy/kubernetes/production')).filter(({ kind }) => kind !== 'Namespace');
    const isTest = ({ metadata: { annotations = {} } }: Manifest): boolean => 'helm.sh/hook' in annotations;
    const rendered = parsed(runLine(applied, clone)).filter((one) => !isTest(one));
    expect(objects(rendered)).toEqual(objects(production));
  });

  it('know Redis by the user and the prefix of the line that makes the user', () => {
    const guide = readFileSync(join(root, 'docs/redis.md'), 'utf8');
    const [, user, keys, channels] = /^ACL SETUSER (\S+) on >password ~(\S+):\* &(\S+):\* /m.exec(guide) ?? [];
    for (const intent of ['production', 'production-mtls']) {
      const file = join(root, 'deploy/kubernetes', intent, 'broker.yaml');
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

  it('make each Secret that the production mounts, with the entries that it wants', () => {
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
});
