import {
  type BrokerConfiguration,
  type EgressConfiguration,
  ConfigurationError,
  type Environment,
  loadConfiguration,
  loadEgressConfiguration,
  type NamedFile,
  readConfiguration,
} from '#libs/configuration';

/** As far as the configuration of an egress can be read. */
export type LoadedEgress =
  | { readonly kind: 'usable'; readonly configuration: EgressConfiguration; readonly files: readonly NamedFile[] }
  | { readonly kind: 'faulty'; readonly error: ConfigurationError; readonly files: undefined };

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

export async function loadEgressAsFarAsPossible(file: string, environment: Environment): Promise<LoadedEgress> {
  const loaded = await unlessFaulty(loadEgressConfiguration(file, environment));
  return loaded instanceof ConfigurationError
    ? { kind: 'faulty', error: loaded, files: undefined }
    : { kind: 'usable', configuration: loaded, files: loaded.files };
}

async function unlessFaulty<Result>(reading: Promise<Result>): Promise<Result | ConfigurationError> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}
