import { dirname, resolve } from 'node:path';
import type { BrokerConfiguration, MerchantConfiguration } from './broker-configuration.js';
import { repeats } from './broker-rules.js';
import { ConfiguredFiles } from './configured-files.js';
import { deepFreeze } from './deep-freeze.js';
import { keysSharedWithTest, type KeyUse } from './environment-rules.js';
import { childPath, ConfigurationError, type Fault, WHOLE_FILE } from './fault.js';
import type { Environment } from './interpolate.js';
import { loadAccess } from './load-access.js';
import { loadMerchant } from './load-merchant.js';
import { loadStore } from './load-store.js';
import { parseConfiguration } from './parse-configuration.js';
import type { ParsedConfiguration } from './parsed-configuration.js';
import { readTextFile } from './read-file.js';
import { MAX_FILE_BYTES } from './read-yaml.js';

/** So many merchants are loaded at a time: each holds a file open. */
const BATCH = 32;

type Loaded = readonly (MerchantConfiguration | undefined)[];

/**
 * Reads the configuration file alone; the files that it names are not looked at.
 * @throws ConfigurationError with every fault of the file at once
 */
export async function readConfiguration(file: string, environment: Environment): Promise<ParsedConfiguration> {
  const content = await readTextFile(file, MAX_FILE_BYTES);
  if (content.kind === 'fault') throw new ConfigurationError([{ path: WHOLE_FILE, problem: content.problem }]);
  return parseConfiguration(content.text, environment);
}

/**
 * Reads the configuration file and every file that it names; relative paths start at the folder of the file.
 * @param file path of the YAML file
 * @param environment where `${NAME}` is taken from
 * @throws ConfigurationError with every fault at once: those of the file, or else those of all files that it names
 */
export async function loadConfiguration(file: string, environment: Environment): Promise<BrokerConfiguration> {
  return await loadNamedFiles(await readConfiguration(file, environment), dirname(resolve(file)));
}

/**
 * Reads every file that a checked configuration names.
 * @param folder where relative paths start
 * @throws ConfigurationError with the faults of all of them
 */
export async function loadNamedFiles(parsed: ParsedConfiguration, folder: string): Promise<BrokerConfiguration> {
  const files = parsed.merchants.map(() => new ConfiguredFiles(folder));
  const storeFiles = new ConfiguredFiles(folder);
  const accessFiles = new ConfiguredFiles(folder);
  const access = await loadAccess(parsed, accessFiles);
  const store = await loadStore(parsed.store, storeFiles);
  const loaded = await loadMerchants(parsed, files);
  const faults = [
    ...accessFiles.faults,
    ...storeFiles.faults,
    ...files.flatMap((each) => each.faults),
    ...repeatedServiceCodes(loaded),
    ...keysSharedWithTest(loaded.flatMap(keyUses)),
  ];
  if (faults.length > 0 || store === undefined || access === undefined) throw new ConfigurationError(faults);
  const merchants = loaded.filter((merchant) => merchant !== undefined);
  const warnings = [
    ...parsed.warnings,
    ...accessFiles.warnings,
    ...storeFiles.warnings,
    ...files.flatMap((each) => each.warnings),
  ];
  return deepFreeze({ ...parsed, ...access, store, merchants, warnings });
}

/** Each merchant gathers faults of its own, so that they are listed in the order of the file. */
async function loadMerchants(
  { merchants }: ParsedConfiguration,
  files: readonly ConfiguredFiles[],
): Promise<(MerchantConfiguration | undefined)[]> {
  const loaded: (MerchantConfiguration | undefined)[] = [];
  for (let start = 0; start < merchants.length; start += BATCH) {
    const batch = files.slice(start, start + BATCH).flatMap((own, offset) => {
      const index = start + offset;
      const merchant = merchants[index];
      return merchant === undefined ? [] : [loadMerchant(merchant, childPath('merchants', index), own)];
    });
    loaded.push(...(await Promise.all(batch)));
  }
  return loaded;
}

/** The check of the file alone cannot see what stands in a `serviceCodeFile`. */
function repeatedServiceCodes(loaded: Loaded): Fault[] {
  return repeats(loaded, (merchant) => merchant?.serviceCode.toLowerCase()).map(({ index, first }) => ({
    path: `merchants[${index}].serviceCodeFile`,
    problem: `holds the serviceCode of merchants[${first}]; their sessions would end each other`,
  }));
}

/** The same key under two file names is still the same key. */
function keyUses(merchant: MerchantConfiguration | undefined, index: number): KeyUse[] {
  return (merchant?.clientKeys ?? []).map((key, file) => ({
    key: key.thumbprint,
    environment: merchant?.gateway.environment ?? 'production',
    path: `merchants[${index}].clientKeyFiles[${file}]`,
  }));
}
