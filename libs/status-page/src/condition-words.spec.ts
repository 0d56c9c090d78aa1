import { readFileSync } from 'node:fs';
import { conditionColours, conditionWord, merchantConditions } from '#libs/session';
import type { StatusMerchant } from './status-document.js';

/**
 * The page's files are checked as a browser program, so they are imported here by a name that the compiler does not
 * follow.
 */
const PAGE: string = './page/condition.js';
interface PageWords {
  readonly conditions: readonly string[];
  readonly conditionNames: Readonly<Record<string, string>>;
  readonly conditionName: (merchant: StatusMerchant, now: number) => string;
}

const expired: StatusMerchant = {
  id: 'shop',
  required: true,
  environment: 'production',
  condition: 'unavailable',
  reason: 'expired',
  session: { generation: 1, createdAt: 0, renewAt: 800, mustRenewAt: 950, expiresAt: 1_000 },
  renewing: false,
  renewalBlocked: false,
  budgetSpent: false,
};

/** As the page writes it at the beginning of a line. */
function titleOf(condition: keyof typeof conditionColours, reason?: 'expired'): string {
  const word = conditionWord(condition, reason);
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The page's name for each colour: a condition that has it. */
const tones = { red: 'unavailable', yellow: 'failing', blue: 'renewing', green: 'fresh' } as const;

describe('the words for the condition of a merchant', () => {
  it('are those of the domain on the page too, in the same order', async () => {
    const { conditions, conditionNames, conditionName } = (await import(PAGE)) as PageWords;
    expect(conditions).toEqual(merchantConditions);
    expect(conditionNames).toEqual(Object.fromEntries(merchantConditions.map((one) => [one, titleOf(one)])));
    expect(conditionName(expired, 2_000)).toBe(titleOf('unavailable', 'expired'));
  });

  it.each(merchantConditions)('have a shape and a colour beside them on the page: %s', (condition) => {
    const styles = readFileSync(new URL('page/status.css', import.meta.url), 'utf8');
    const tone = `--tone: var\\(--${tones[conditionColours[condition]]}\\);\\s+--shape: '.';`;
    expect(styles).toMatch(new RegExp(`^\\[data-condition='${condition}'\\][^}]* ${tone}`, 'm'));
  });
});
