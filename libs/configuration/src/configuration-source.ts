import { dirname, resolve } from 'node:path';
import type { BrokerConfiguration } from './broker-configuration.js';
import { stampOf } from './file-stamps.js';
import type { Environment } from './interpolate.js';
import { loadNamedFiles, readConfiguration } from './load-configuration.js';

/** Equal to no stamp: whatever is found next counts as changed. */
const NOTHING = '';

/** A configuration that is read again while the program runs, when its file or one that it names has changed. */
export class ConfigurationSource {
  readonly #file: string;
  readonly #environment: Environment;
  /** The file itself, and those that it named when it could last be understood. */
  #files: readonly string[];
  #loadedStamp = NOTHING;

  /**
   * @param file path of the YAML file
   * @param environment where `${NAME}` is taken from
   */
  constructor(file: string, environment: Environment) {
    this.#file = resolve(file);
    this.#environment = environment;
    this.#files = [this.#file];
  }

  /** Of the files as they are now. It differs from `loadedStamp` when something has changed since the last `load`. */
  stamp(): Promise<string> {
    return stampOf(this.#files);
  }

  /** Of the files before the last `load` read them: what changed while it was reading counts as changed after it. */
  get loadedStamp(): string {
    return this.#loadedStamp;
  }

  /** @throws ConfigurationError with every fault at once; what is mended afterwards shows in `stamp` */
  async load(): Promise<BrokerConfiguration> {
    const before = await stampOf([this.#file]);
    this.#loadedStamp = await this.stamp();
    const parsed = await readConfiguration(this.#file, this.#environment);
    const folder = dirname(this.#file);
    this.#files = [this.#file, ...new Set(parsed.files.map(({ file }) => resolve(folder, file)))];
    const stamp = await this.stamp();
    const isStillTheSame = (await stampOf([this.#file])) === before;
    this.#loadedStamp = isStillTheSame ? stamp : NOTHING;
    return await loadNamedFiles(parsed, folder);
  }
}
