import { MerchantLabels } from './merchant-labels.js';

describe('the labels of merchants', () => {
  const labels = new MerchantLabels(['a', 'b', 'c', 'd'], 2);

  it('are their ids up to the bound, in the order of the configuration, and one for the rest if there is any', () => {
    const merchants = ['a', 'b', 'c', 'd', 'gone'];
    expect(merchants.map((merchant) => labels.of(merchant))).toEqual(['a', 'b', ...Array(3).fill('_other')]);
    expect(labels.all()).toEqual(['a', 'b', '_other']);
    expect(new MerchantLabels(['a', 'b'], 2).all()).toEqual(['a', 'b']);
  });

  it('let the rest look as bad as the worst of them', () => {
    const gauges = [
      { merchant: 'a', generation: 1, expirySeconds: 900 },
      {
        merchant: 'c',
        generation: 5,
        expirySeconds: 300,
        renewSeconds: 250,
        lastSuccessSeconds: 7,
        clockSkewSeconds: 1,
        foreignAuthorizer: 1,
      } as const,
      {
        merchant: 'd',
        generation: 9,
        expirySeconds: 200,
        renewSeconds: 260,
        clockSkewSeconds: -3,
        foreignAuthorizer: 0,
      } as const,
      { merchant: 'gone', clockSkewSeconds: 2 },
    ];
    expect([...labels.merged(gauges)]).toEqual([
      { merchant: 'a', generation: 1, expirySeconds: 900 },
      {
        merchant: '_other',
        expirySeconds: 200,
        renewSeconds: 250,
        lastSuccessSeconds: 7,
        clockSkewSeconds: -3,
        foreignAuthorizer: 1,
      },
    ]);
  });
});
