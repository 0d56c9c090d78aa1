import { readFileSync } from 'node:fs';
import { conditionColours } from '#libs/causes';
import { merchantConditions } from '#libs/session';

/**
 * The page's files are checked as a browser program, so they are imported here by a name that the compiler does not
 * follow.
 */
const PAGE: string = './page/condition.js';

/** The page's name for each colour: a condition that has it. */
const tones = { red: 'unavailable', yellow: 'failing', green: 'fresh' } as const;

describe('the conditions of a merchant', () => {
  it('are those of the domain on the page too, in the same order', async () => {
    const { conditions } = (await import(PAGE)) as { readonly conditions: readonly string[] };
    expect(conditions).toEqual(merchantConditions);
  });

  it.each(merchantConditions)('have a shape and a colour beside them on the page: %s', (condition) => {
    const styles = readFileSync(new URL('page/status.css', import.meta.url), 'utf8');
    const tone = `--tone: var\\(--${tones[conditionColours[condition]]}\\);\\s+--shape: '.';`;
    expect(styles).toMatch(new RegExp(`^\\[data-condition='${condition}'\\][^}]* ${tone}`, 'm'));
  });
});
