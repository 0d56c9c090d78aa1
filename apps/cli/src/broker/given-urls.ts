import type { CommandContext } from '../terminal.js';
import type { BrokerOptions } from './broker-place.js';

/** The addresses of a broker as they are written: on the command line, or in the environment. */
export function givenUrls({ url }: BrokerOptions, { environment }: Pick<CommandContext, 'environment'>): string[] {
  const given = url ?? (environment['BROKER_URL'] ?? '').split(',');
  return given.map((text) => text.trim()).filter((text) => text !== '');
}
