import {
  type BrokerConfiguration,
  checkConfiguration,
  type EgressConfiguration,
  ConfigurationError,
  type Environment,
  loadConfiguration,
  loadEgressConfiguration,
  type NamedFile,
} from '#libs/configuration';

type Checked = Awaited<ReturnType<typeof checkConfiguration>>;

/** As far as a configuration can be read. */
export type Loaded<Configuration> =
  | { readonly kind: 'usable'; readonly configuration: Configuration; readonly files: readonly NamedFile[] }
  /** Nothing is known to be wrong with it, but variables of the environment are not set. */
  | { readonly kind: 'incomplete'; readonly unset: Checked['unset']; readonly files: readonly NamedFile[] }
  /** Its files are known where it is right in itself and only what they hold is not. */
  | { readonly kind: 'faulty'; readonly error: ConfigurationError; readonly files: readonly NamedFile[] | undefined };

export type LoadedEgress = Loaded<EgressConfiguration>;
export type LoadedConfiguration = Loaded<BrokerConfiguration>;

export function loadAsFarAsPossible(file: string, environment: Environment): Promise<LoadedConfiguration> {
  return asFarAsPossible(loadConfiguration, file, environment);
}

export function loadEgressAsFarAsPossible(file: string, environment: Environment): Promise<LoadedEgress> {
  return asFarAsPossible(loadEgressConfiguration, file, environment);
}

async function asFarAsPossible<Configuration extends { readonly files: readonly NamedFile[] }>(
  load: (file: string, environment: Environment) => Promise<Configuration>,
  file: string,
  environment: Environment,
): Promise<Loaded<Configuration>> {
  const loaded = await unlessFaulty(load(file, environment));
  if (!(loaded instanceof ConfigurationError)) return { kind: 'usable', configuration: loaded, files: loaded.files };
  const whole = await unlessFaulty(checkConfiguration(file, { environment, readsFiles: true }));
  if (!(whole instanceof ConfigurationError) && whole.unset.length > 0) {
    return { kind: 'incomplete', unset: whole.unset, files: whole.files };
  }
  const structure = await unlessFaulty(checkConfiguration(file, { environment, readsFiles: false }));
  return {
    kind: 'faulty',
    error: loaded,
    files: structure instanceof ConfigurationError ? undefined : structure.files,
  };
}

async function unlessFaulty<Result>(reading: Promise<Result>): Promise<Result | ConfigurationError> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}
