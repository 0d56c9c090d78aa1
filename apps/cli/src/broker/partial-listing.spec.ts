import { lastingPartsOf, partialListingsOf, partialListingText } from './partial-listing.js';

interface Look {
  readonly place: string;
  readonly replica?: string;
  readonly merchants: readonly { readonly id: string }[];
  readonly error?: { readonly code: string };
}

const look = (replica: string, ...ids: readonly string[]): Look => ({
  place: `http://${replica}:8080`,
  replica,
  merchants: ids.map((id) => ({ id })),
});
const kiosk = { merchant: 'kiosk', on: ['b'], notOn: ['a'], runbook: 'config-reload-failed' };

describe('a merchant that only some replicas have', () => {
  it('is found by what each of them lists', () => {
    expect(partialListingsOf([look('a', 'shop'), look('b', 'shop', 'kiosk')])).toEqual([kiosk]);
    expect(partialListingsOf([look('a', 'shop'), look('b', 'shop')])).toEqual([]);
    expect(partialListingsOf([look('b', 'kiosk')])).toEqual([]);
  });

  it('is missing on one that lists none, and not known of one that has no list', () => {
    const none = { ...look('a'), error: { code: 'no_merchant_readable' } };
    expect(partialListingsOf([none, look('b', 'kiosk')])).toEqual([kiosk]);
    expect(partialListingsOf([{ ...none, error: { code: 'broker_unreachable' } }, look('b', 'kiosk')])).toEqual([]);
  });

  it('is told once it is so a moment later, too', () => {
    const before = partialListingsOf([look('a'), look('b', 'kiosk')]);
    expect(lastingPartsOf(before, [look('a'), look('b', 'kiosk')])).toEqual([kiosk]);
    expect(lastingPartsOf(before, [look('a', 'kiosk'), look('b', 'kiosk')])).toEqual([]);
    expect(lastingPartsOf(before, [look('a'), look('b', 'kiosk', 'till')])).toEqual([kiosk]);
  });

  it('is told with the replicas on either side, by their address where they have no name', () => {
    const { place, merchants } = look('c', 'kiosk');
    expect(partialListingsOf([look('a'), look('b', 'kiosk'), { place, merchants }]).map(partialListingText)).toEqual([
      'kiosk is on b, http://c:8080, not on a: a reload has not reached it, or its file differs (runbook: config-reload-failed)',
    ]);
    expect(partialListingsOf([look('a'), look('b'), look('c', 'kiosk')]).map(partialListingText)).toEqual([
      'kiosk is on c, not on a, b: a reload has not reached them, or their files differ (runbook: config-reload-failed)',
    ]);
  });
});
