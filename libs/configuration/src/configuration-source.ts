import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type BrokerConfiguration, brokerKind } from './broker-configuration.js';
import { type EgressConfiguration, egressKind } from './egress-configuration.js';
import { assertRight, examine, inspect, readYamlFile, type Surroundings } from './load-configuration.js';
import type { ConfigurationKind, Findings } from './rule.js';
import type { BrokerSettings } from './settings/broker-settings.js';
import type { EgressDocument } from './settings/egress-settings.js';

/** Equals no stamp, so whatever is found next counts as changed. */
const NOTHING = '';

/** A configuration that is read again while the program runs, when its file or one that it names has changed. */
abstract class SourceOf<Settings, Configuration> {
  readonly #kind: ConfigurationKind<Settings, Configuration>;
  readonly #file: string;
  readonly #surroundings: Surroundings;
  /** The file itself, and those that it named when it could last be read. */
  #files: readonly string[];
  #loadedStamp = NOTHING;

  constructor(kind: ConfigurationKind<Settings, Configuration>, file: string, surroundings: Surroundings) {
    this.#kind = kind;
    this.#file = resolve(file);
    this.#surroundings = surroundings;
    this.#files = [this.#file];
  }

  /** The stamp of the files now. It differs from `loadedStamp` if something has changed since the last `load`. */
  stamp(): Promise<string> {
    return stampOf(this.#files);
  }

  /** The stamp before the last `load` read the files: a change made during the reading counts as made after it. */
  get loadedStamp(): string {
    return this.#loadedStamp;
  }

  /** @throws ConfigurationError with every fault at once; what is fixed afterwards shows in `stamp` */
  async load(): Promise<Configuration & Findings> {
    const before = await stampOf([this.#file]);
    this.#loadedStamp = await this.stamp();
    const content = await readYamlFile(this.#file, this.#surroundings.environment);
    const examined = examine(this.#kind, content);
    const folder = dirname(this.#file);
    this.#files = [this.#file, ...new Set(examined.files.map(({ file }) => resolve(folder, file)))];
    const stamp = await this.stamp();
    const isStillTheSame = (await stampOf([this.#file])) === before;
    this.#loadedStamp = isStillTheSame ? stamp : NOTHING;
    return assertRight(await inspect(this.#kind, examined, { folder, clock: this.#surroundings.clock }));
  }
}

/** The file of a broker. */
export class ConfigurationSource extends SourceOf<BrokerSettings, Omit<BrokerConfiguration, keyof Findings>> {
  constructor(file: string, surroundings: Surroundings) {
    super(brokerKind, file, surroundings);
  }
}

/** The file of an egress. */
export class EgressConfigurationSource extends SourceOf<EgressDocument, Omit<EgressConfiguration, keyof Findings>> {
  constructor(file: string, surroundings: Surroundings) {
    super(egressKind, file, surroundings);
  }
}

/**
 * What is known of files without reading them, as one text that changes as soon as any of them is replaced, written to,
 * made readable or removed. Links are followed, so that when Kubernetes swaps a volume's `..data` link, this shows in
 * every file below it.
 */
async function stampOf(files: readonly string[]): Promise<string> {
  const stamp = createHash('sha256');
  for (const file of files) stamp.update(await lineOf(file));
  return stamp.digest('hex');
}

async function lineOf(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return `${file}\0${dev}\0${ino}\0${size}\0${mtimeNs}\0${ctimeNs}\n`;
  } catch (error) {
    // A file that is missing or cannot be inspected is a state like any other: reading it will say what is wrong.
    if (typeof error === 'object' && error !== null && 'code' in error) return `${file}\0${String(error.code)}\n`;
    throw error;
  }
}
