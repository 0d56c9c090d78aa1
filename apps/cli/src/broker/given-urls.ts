import type { CommandContext } from '../terminal.js';

interface Given {
  readonly url?: readonly string[];
}

/** The addresses of a broker as given on the command line or in the environment. */
export function givenUrls({ url }: Given, { environment }: Pick<CommandContext, 'environment'>): string[] {
  const given = url ?? [environment['BROKER_URL'] ?? ''];
  const texts = given.flatMap((text) => text.split(/[\s,]+/));
  return texts.filter((text) => text !== '');
}
