import {
  type BrokerConfiguration,
  ConfigurationError,
  type Environment,
  loadConfiguration,
  type NamedFile,
  readConfiguration,
} from '#libs/configuration';

/** As far as a configuration can be read: its files may be wrong although it is right in itself. */
export type LoadedConfiguration =
  | { readonly kind: 'usable'; readonly configuration: BrokerConfiguration; readonly files: readonly NamedFile[] }
  | { readonly kind: 'faulty'; readonly error: ConfigurationError; readonly files: readonly NamedFile[] | undefined };

export async function loadAsFarAsPossible(file: string, environment: Environment): Promise<LoadedConfiguration> {
  let files: readonly NamedFile[] | undefined;
  try {
    files = (await readConfiguration(file, environment)).files;
    return { kind: 'usable', configuration: await loadConfiguration(file, environment), files };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return { kind: 'faulty', error, files };
  }
}
