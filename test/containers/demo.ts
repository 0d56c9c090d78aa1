import { VERSION } from '#libs/program';
import { eventually } from '#libs/testing';
import { must } from './child-processes.js';
import { docker, tryDocker, type Engine } from './engine.js';

const PROJECT = 'session-broker-proof';
export const REPLICAS: readonly string[] = ['broker-1', 'broker-2', 'broker-3'];
export const PROGRAMS: readonly string[] = [...REPLICAS, 'egress', 'sandbox'];
export const IMAGE = `session-broker:${VERSION}`;
const READY_WITHIN_MS = 180_000;

/** The parts of docker's description of a container that are looked at. */
export interface Inspected {
  readonly Config: { readonly User: string; readonly Entrypoint: readonly string[] | null };
  readonly HostConfig: {
    readonly ReadonlyRootfs: boolean;
    readonly CapDrop: readonly string[] | null;
    readonly CapAdd: readonly string[] | null;
    readonly SecurityOpt: readonly string[] | null;
    readonly PortBindings: Readonly<Record<string, readonly { readonly HostIp: string }[] | null>> | null;
  };
  readonly State: { readonly ExitCode: number; readonly Health?: { readonly Status: string } };
}

/** The project's compose file, run on an engine. */
export class Demo {
  readonly #files: readonly string[];

  constructor(readonly engine: Engine) {
    this.#files = engine.leftOut.length === 0 ? [] : ['-f', 'docker-compose.yml', '-f', 'left-out.yml'];
  }

  /** A second compose file, which only puts services into a profile that nobody enables. */
  static leavingOut(services: readonly string[]): string {
    return JSON.stringify({ services: Object.fromEntries(services.map((name) => [name, { profiles: ['left-out'] }])) });
  }

  compose(...args: readonly string[]): Promise<string> {
    return docker(this.engine, 'compose', '-p', PROJECT, ...this.#files, ...args);
  }

  /** Starts everything, with the volumes from before. */
  async up(): Promise<void> {
    await this.compose('up', '--detach', '--no-build');
    for (const name of PROGRAMS) await this.healthy(name);
  }

  async remove(): Promise<void> {
    await tryDocker(this.engine, 'compose', '-p', PROJECT, ...this.#files, 'down', '--volumes', '--timeout', '5');
    await tryDocker(this.engine, 'image', 'rm', IMAGE);
  }

  nameOf(service: string): string {
    return `${PROJECT}-${service}-1`;
  }

  async inspect(service: string): Promise<Inspected> {
    const [inspected] = JSON.parse(await docker(this.engine, 'inspect', this.nameOf(service))) as [Inspected];
    return inspected;
  }

  /** All output of its program, unchanged. */
  log(service: string): Promise<string> {
    return docker(this.engine, 'logs', this.nameOf(service));
  }

  healthy(service: string): Promise<void> {
    const isHealthy = async (): Promise<boolean> => (await this.inspect(service)).State.Health?.Status === 'healthy';
    return eventually(isHealthy, READY_WITHIN_MS);
  }

  /** Runs a program in a container and returns what it printed. */
  inContainer(service: string, ...command: readonly string[]): Promise<string> {
    return docker(this.engine, 'exec', this.nameOf(service), ...command);
  }

  /** Calls a published port as a client on the machine does. */
  ask(path: string, ...curl: readonly string[]): Promise<string> {
    return must([...this.engine.beside, 'curl', '-sS', '-m', '20', ...curl, `http://127.0.0.1:${path}`]);
  }
}
