import {
  type BrokerConfiguration,
  type BrokerParts,
  checkConfiguration,
  type EgressConfiguration,
  type EgressParts,
  ConfigurationError,
  loadConfiguration,
  loadEgressConfiguration,
  type NamedFile,
  type Surroundings,
} from '#libs/configuration';

type Checked = Awaited<ReturnType<typeof checkConfiguration>>;

/** As much of a configuration as can be read. */
export type Loaded<Configuration, Parts = unknown> =
  | { readonly kind: 'usable'; readonly configuration: Configuration; readonly files: readonly NamedFile[] }
  /** Nothing is known to be wrong with it, but some environment variables are not set. */
  | {
      readonly kind: 'incomplete';
      readonly unset: Checked['unset'];
      readonly files: readonly NamedFile[];
      readonly known: Parts;
    }
  | ({ readonly kind: 'faulty'; readonly error: ConfigurationError } & (
      | { readonly files: undefined; readonly known?: never }
      /**
       * `known` is what does not depend on the settings and files at fault. `faulty`: the settings whose files are at
       * fault.
       */
      | { readonly files: readonly NamedFile[]; readonly known: Parts; readonly faulty: readonly string[] }
    ));

export type LoadedEgress = Loaded<EgressConfiguration, EgressParts>;
export type LoadedConfiguration = Loaded<BrokerConfiguration, BrokerParts>;

export function loadAsFarAsPossible(file: string, surroundings: Surroundings): Promise<LoadedConfiguration> {
  return asFarAsPossible(
    { load: loadConfiguration, partsOf: (found) => (found.kind === 'broker' ? found.known : undefined) },
    file,
    surroundings,
  );
}

export function loadEgressAsFarAsPossible(file: string, surroundings: Surroundings): Promise<LoadedEgress> {
  return asFarAsPossible(
    { load: loadEgressConfiguration, partsOf: (found) => (found.kind === 'egress' ? found.known : undefined) },
    file,
    surroundings,
  );
}

interface Reading<Configuration, Parts> {
  readonly load: (file: string, surroundings: Surroundings) => Promise<Configuration>;
  readonly partsOf: (found: Checked) => Parts | undefined;
}

async function asFarAsPossible<Configuration extends { readonly files: readonly NamedFile[] }, Parts>(
  { load, partsOf }: Reading<Configuration, Parts>,
  file: string,
  { environment, clock }: Surroundings,
): Promise<Loaded<Configuration, Parts>> {
  const loaded = await unlessFaulty(load(file, { environment, clock }));
  if (!(loaded instanceof ConfigurationError)) return { kind: 'usable', configuration: loaded, files: loaded.files };
  const partly = await unlessFaulty(checkConfiguration(file, { environment, clock, readsFiles: true }));
  const known = partly instanceof ConfigurationError ? undefined : partsOf(partly);
  if (partly instanceof ConfigurationError || known === undefined)
    return { kind: 'faulty', error: loaded, files: undefined };
  const { error, files, faulty, unset } = partly;
  if (error === undefined && unset.length > 0) return { kind: 'incomplete', unset, files, known };
  return { kind: 'faulty', error: loaded, files, faulty, known };
}

async function unlessFaulty<Result>(reading: Promise<Result>): Promise<Result | ConfigurationError> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}
