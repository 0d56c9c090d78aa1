import { dirname, resolve } from 'node:path';
import { toConfiguration } from './arrange-options.js';
import type { BrokerConfiguration, ParsedConfiguration } from './broker-configuration.js';
import { keysSharedWithTest, serviceCodeRepeated } from './broker-rules.js';
import type { Loose } from './check-settings.js';
import { deepFreeze } from './deep-freeze.js';
import { ConfigurationError, type Fault, inOrderOf, notCausedBy, WHOLE_FILE } from './fault.js';
import { isPair } from './file-contents.js';
import type { Environment } from './interpolate.js';
import { type Loaded, readFiles, withContents } from './named-files.js';
import { type Examined, examine, parseConfiguration, parsedOf } from './parse-configuration.js';
import { readTextFile } from './read-file.js';
import { MAX_FILE_BYTES } from './read-yaml.js';
import { faultIf, repeats } from './rule.js';
import type { BrokerSettings } from './settings/broker-settings.js';

/**
 * Reads the configuration file alone; the files that it names are not looked at.
 * @throws ConfigurationError with every fault of the file at once
 */
export async function readConfiguration(file: string, environment: Environment): Promise<ParsedConfiguration> {
  return parseConfiguration(await textOf(file), environment);
}

/**
 * Reads the configuration file and every file that it names; relative paths start at the folder of the file.
 * @param file path of the YAML file
 * @param environment where `${NAME}` is taken from
 * @throws ConfigurationError with every fault at once: those of the file, and those of all files that it names
 */
export async function loadConfiguration(file: string, environment: Environment): Promise<BrokerConfiguration> {
  return await loadExamined(await examineFile(file, environment), dirname(resolve(file)));
}

/** @throws ConfigurationError when the file cannot be read; what is wrong in it is not thrown yet */
export async function examineFile(file: string, environment: Environment): Promise<Examined> {
  return examine(await textOf(file), environment);
}

/**
 * Reads every file that an examined configuration names, even when there are faults in it already.
 * @param folder where relative paths start
 * @throws ConfigurationError with the faults of all of them and of the configuration, in the order of its file
 */
export async function loadExamined(examined: Examined, folder: string): Promise<BrokerConfiguration> {
  const { contents, faults: faultsOfFiles, warnings } = await readFiles(examined.files, folder);
  const settings = withContents(examined.settings, contents);
  const after = notCausedBy(examined.faults, [...faultsOfFiles, ...faultsBetweenFiles(settings, examined.settings)]);
  const faults = [...examined.faults, ...after];
  if (faults.length > 0) throw new ConfigurationError(inOrderOf(examined.places, faults));
  const parsed = parsedOf(examined);
  const configuration = toConfiguration(settings as Loaded<BrokerSettings>);
  return deepFreeze({ ...configuration, files: parsed.files, warnings: [...parsed.warnings, ...warnings] });
}

async function textOf(file: string): Promise<string> {
  const content = await readTextFile(file, MAX_FILE_BYTES);
  if (content.kind === 'fault') throw new ConfigurationError([{ path: WHOLE_FILE, problem: content.problem }]);
  return content.text;
}

/** Where the contents of files contradict each other, as far as they could be read. */
function faultsBetweenFiles(
  { http, merchants = [] }: Loaded<Loose<BrokerSettings>>,
  { merchants: named = [] }: Loose<BrokerSettings>,
): readonly Fault[] {
  const { cert, key } = http?.tls ?? {};
  return [
    ...faultIf(
      cert !== undefined && key !== undefined && !isPair(cert, key),
      'http.tls.keyFile',
      'names a key that does not belong to the certificate',
    ),
    // The check of the file alone cannot see what stands in a `serviceCodeFile`.
    ...repeats(
      merchants,
      (merchant) => merchant?.serviceCode?.toLowerCase(),
      (index, first) =>
        named[index]?.serviceCodeFile === undefined
          ? serviceCodeRepeated(index, first)
          : {
              path: `merchants[${index}].serviceCodeFile`,
              problem: `holds the serviceCode of merchants[${first}]; their sessions would end each other`,
            },
    ),
    // The same key under two file names is still the same key.
    ...keysSharedWithTest(
      merchants.map((merchant) => ({
        environment: merchant?.gateway?.environment,
        keys: merchant?.clientKeys?.map((clientKey) => clientKey?.thumbprint) ?? [],
      })),
    ),
  ];
}
