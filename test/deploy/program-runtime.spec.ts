import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { programRuntime } from '#libs/program';
import { environmentOf, readUnit } from './systemd-unit.js';

const { nodeArguments, environment } = programRuntime;
const root = join(import.meta.dirname, '..', '..');
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const pairs = Object.entries(environment).map(([name, value]) => `${name}=${value}`);

const programs = ['broker', 'egress'] as const;
type Program = (typeof programs)[number];
const commandOf = (program: Program): string[] => ['node', ...nodeArguments, `dist/programs/${program}.js`];

interface ContainerDocument {
  readonly name?: string;
  readonly command?: readonly string[];
  readonly resources?: { readonly limits: { readonly memory: string }; readonly requests: { readonly memory: string } };
}

interface DeploymentDocument {
  readonly kind?: string;
  readonly spec?: {
    readonly template?: {
      readonly spec: {
        readonly terminationGracePeriodSeconds?: number;
        readonly containers: readonly ContainerDocument[];
        readonly initContainers?: readonly ContainerDocument[];
      };
    };
  };
}

const deploymentsIn = (file: string): DeploymentDocument[] =>
  parseAllDocuments(textOf(file)).map((document) => document.toJS() as DeploymentDocument);

const runs = (program: Program, command: readonly string[] | undefined): boolean =>
  command?.some((argument) => argument.endsWith(`programs/${program}.js`)) ?? false;

/** Every command of a container, wherever it is written. */
function commandsOf(program: Program): (readonly string[])[] {
  const { services } = parse(textOf('docker-compose.yml'), { merge: true }) as {
    services: Record<string, ContainerDocument>;
  };
  const manifests = globSync('deploy/kubernetes/**/*.yaml', { cwd: root })
    .flatMap(deploymentsIn)
    .filter(({ kind }) => kind === 'Deployment')
    .flatMap(({ spec }) => [
      ...(spec?.template?.spec.containers ?? []),
      ...(spec?.template?.spec.initContainers ?? []),
    ]);
  return [...Object.values(services), ...manifests]
    .flatMap(({ command }) => (command === undefined ? [] : [command]))
    .filter((command) => runs(program, command));
}

/** What a page tells its readers to type. */
const typedCommands = globSync('{README.md,docs/**/*.md,deploy/**/*.md}', { cwd: root }).flatMap((file) =>
  [...textOf(file).matchAll(/\bnode ((?:--[\w=-]+ )*)dist\/programs\/(?:broker|egress)\.js/g)].map(
    ([, flags = '']) => [file, flags.trim()] as const,
  ),
);

describe('how broker and egress are run', () => {
  it('opens no inspector to whoever may send a signal', () => {
    expect(nodeArguments).toContain('--disable-sigusr1');
  });

  it('is the same in the image', () => {
    const dockerfile = textOf('deploy/Dockerfile');
    expect(JSON.parse(/^CMD (.+)$/m.exec(dockerfile)?.[1] ?? '')).toEqual(commandOf('broker'));
    expect(/^ENV (.+)$/m.exec(dockerfile)?.[1]?.split(' ')).toEqual(pairs);
  });

  it.each(programs)('is the same by npm: %s', (program) => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    expect(scripts[`start:${program}`]).toBe(['exec env', ...pairs, ...commandOf(program)].join(' '));
    // By `exec`, a program gets the signal that npm gets.
    expect(scripts['start:sandbox']).toMatch(/^exec node /);
  });

  it('is the same in compose and manifests, where they name a command of their own', () => {
    expect(commandsOf('egress').length).toBeGreaterThan(2);
    for (const program of programs) {
      for (const command of commandsOf(program)) expect(command).toEqual(commandOf(program));
    }
  });

  it.each(programs)('is the same under systemd: %s', (program) => {
    const unit = readUnit(`session-${program}`);
    expect(unit['ExecStart']).toEqual([`/usr/bin/${commandOf(program).join(' ')}`]);
    expect(environmentOf(unit)).toMatchObject(environment);
    expect(unit['MemoryMax']).toEqual([`${programRuntime[program].memoryMiB}M`]);
    expect(unit['TimeoutStopSec']).toEqual([`${programRuntime[program].stopSeconds}s`]);
  });

  it.each(programs)('has the same memory and the same time to end in the manifests: %s', (program) => {
    const pod = deploymentsIn('deploy/kubernetes/production-mtls/manifests.yaml')
      .map(({ spec }) => spec?.template?.spec)
      .find((one) => one?.containers[0]?.name === program);
    const memory = `${programRuntime[program].memoryMiB}Mi`;
    expect(pod?.containers[0]?.resources).toMatchObject({ requests: { memory }, limits: { memory } });
    expect(pod?.terminationGracePeriodSeconds).toBe(programRuntime[program].stopSeconds);
  });

  it('is the same in what the pages tell their readers to type', () => {
    expect(typedCommands.length).toBeGreaterThan(2);
    expect(typedCommands).toEqual(typedCommands.map(([file]) => [file, nodeArguments.join(' ')]));
  });

  it('is the bundle for whoever starts a program', () => {
    const places = globSync('{package.json,docker-compose.yml,bin/*,README.md,docs/*.md,docs/guides/**,deploy/**}', {
      cwd: root,
    }).filter((file) => statSync(join(root, file)).isFile());
    expect(places.length).toBeGreaterThan(50);
    expect(places.filter((file) => /apps\/[\w$]+\/src\/main\.js/.test(textOf(file)))).toEqual([]);
  });
});
