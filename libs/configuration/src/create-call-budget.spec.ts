import { ConfigurationError } from './fault.js';
import { parseConfiguration } from './load-configuration.js';

const withBudget = (budget: unknown): string =>
  JSON.stringify({
    merchants: [
      {
        id: 'shop',
        serviceCode: '137d9304-0368-11ed-b939-0242ac120002',
        clientKeyFiles: ['shop.jwk.json'],
        gateway: { baseUrl: 'https://gateway.example' },
        session: { budget },
      },
    ],
  });

function faultsOf(budget: unknown): readonly string[] {
  try {
    parseConfiguration(withBudget(budget), {});
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults.map(({ path, problem }) => `${path} ${problem}`);
    throw error;
  }
  return [];
}

describe('a budget of create calls', () => {
  it('has one to four windows, in any order', () => {
    const windows = [
      { calls: 60, per: '24h' },
      { calls: 1000, per: '7d' },
      { calls: 1, per: '1s' },
      { calls: 20, per: '10m' },
    ];
    const [merchant] = parseConfiguration(withBudget(windows), {}).merchants;
    expect(merchant?.session.budget).toEqual([
      { calls: 60, perMs: 86_400_000 },
      { calls: 1000, perMs: 604_800_000 },
      { calls: 1, perMs: 1_000 },
      { calls: 20, perMs: 600_000 },
    ]);
  });

  it.each<[string, unknown, string]>([
    [
      'a budget of nothing',
      [{ calls: 0, per: '10m' }],
      'merchants[0].session.budget[0].calls must be a whole number from 1 to 1000',
    ],
    ['a budget without a window', [], 'merchants[0].session.budget must have at least 1 item'],
    [
      'a budget of five windows',
      ['1m', '2m', '3m', '4m', '5m'].map((per) => ({ calls: 5, per })),
      'merchants[0].session.budget must have at most 4 items',
    ],
    [
      'a window without a length',
      [{ calls: 20 }],
      'merchants[0].session.budget[0].per is missing: it must be a duration from 1s to 7d, such as 90s, 15m or 2h',
    ],
  ])('is refused: %s', (_name, budget, fault) => expect(faultsOf(budget)).toContain(fault));
});
