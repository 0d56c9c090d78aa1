import { loadConfiguration } from '#libs/configuration';
import type { Report } from '../report.js';
import type { CommandContext } from '../terminal.js';

interface ConfigCheckOptions {
  readonly file: string;
}

/**
 * Reads a configuration, and every file that it names, with the broker's own reader.
 * @throws ConfigurationError with every fault, each with its path in the file
 */
export async function configCheck({ file }: ConfigCheckOptions, { environment }: CommandContext): Promise<Report> {
  const { http, management, store, merchants, warnings } = await loadConfiguration(file, environment);
  const ids = merchants.map(({ id }) => id);
  return {
    lines: [
      `${file} is valid`,
      `http         ${http.host}:${http.port}`,
      `management   ${management.host}:${management.port}`,
      `store        ${store.type}`,
      `merchants    ${ids.length} (${ids.slice(0, 10).join(', ')}${ids.length > 10 ? ', …' : ''})`,
    ],
    json: { file, http, management, store: store.type, merchants: ids },
    warnings: warnings.map(({ path, problem }) => `${path}: ${problem}`),
  };
}
