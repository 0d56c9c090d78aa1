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
  const loaded = await unlessFaulty(loadConfiguration(file, environment));
  if (!(loaded instanceof ConfigurationError)) {
    return { kind: 'usable', configuration: loaded, files: loaded.files };
  }
  const parsed = await unlessFaulty(readConfiguration(file, environment));
  return { kind: 'faulty', error: loaded, files: parsed instanceof ConfigurationError ? undefined : parsed.files };
}

async function unlessFaulty<Result>(reading: Promise<Result>): Promise<Result | ConfigurationError> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}
