import { must, run, type Ended } from './child-processes.js';

/** A Docker engine, and the place that its command line and its published ports are in. */
export interface Engine {
  /** In words for the table. */
  readonly description: string;
  /** What stands before a command of the engine's place. */
  readonly inside: readonly string[];
  /** What stands before a program of this machine that asks a published port. */
  readonly beside: readonly string[];
  /** The folder of the checkout as the engine's command line sees it. */
  readonly folder: string;
  /** What of the compose file cannot be had here. */
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

/** @throws Error when it does not succeed */
export const docker = (engine: Engine, ...args: readonly string[]): Promise<string> =>
  must(inFolder(engine, ['docker', ...args]));

/** The same, whatever its end. */
export const tryDocker = (engine: Engine, ...args: readonly string[]): Promise<Ended> =>
  run(inFolder(engine, ['docker', ...args]));

/** A shell script in the engine's place. */
export const script = (engine: Engine, text: string): Promise<string> => must(inFolder(engine, ['sh', '-c', text]));

/** The engine of this machine, if there is one that works and has compose. */
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
