import { must, run, type Ended } from './child-processes.js';

/** A Docker engine, and the place where its command line and its published ports are. */
export interface Engine {
  /** In words, for the table. */
  readonly description: string;
  /** The prefix of a command that runs in the engine's place. */
  readonly inside: readonly string[];
  /** The prefix of a program of this machine that calls a published port. */
  readonly beside: readonly string[];
  /** The folder of the checkout as the engine's command line sees it. */
  readonly folder: string;
  /** The services of the compose file that are not available here. */
  readonly leftOut: readonly string[];
  /** Makes every base image available under its exact name. */
  prepareImages(): Promise<void>;
  /** Ends and removes whatever it made. */
  close(): Promise<void>;
}

/** A command in the folder of the checkout. */
const inFolder = (engine: Engine, command: readonly string[]): readonly string[] => [
  ...engine.inside,
  'sh',
  '-c',
  'cd "$0" && exec "$@"',
  engine.folder,
  ...command,
];

/** @throws Error if it fails */
export const docker = (engine: Engine, ...args: readonly string[]): Promise<string> =>
  must(inFolder(engine, ['docker', ...args]));

/** The same, whether or not it succeeds. */
export const tryDocker = (engine: Engine, ...args: readonly string[]): Promise<Ended> =>
  run(inFolder(engine, ['docker', ...args]));

/** A shell script in the engine's place. */
export const script = (engine: Engine, text: string): Promise<string> => must(inFolder(engine, ['sh', '-c', text]));

/** The engine of this machine, if there is a working one with compose. */
export async function engineOfThisMachine(folder: string): Promise<Engine | undefined> {
  for (const command of [
    ['docker', 'info'],
    ['docker', 'compose', 'version'],
  ]) {
    const ended = await run(command).catch(() => undefined);
    if (ended?.code !== 0) return undefined;
  }
  const version = await must(['docker', 'version', '--format', '{{.Server.Version}}']);
  return {
    description: `the engine of this machine, ${version.trim()}`,
    inside: [],
    beside: [],
    folder,
    leftOut: [],
    prepareImages: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
