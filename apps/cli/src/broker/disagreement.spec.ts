import { disagreementsOf, disagreementText, lastingOf, type Look } from './disagreement.js';

const look = (replica: string, generation?: number, id = 'shop'): Look => ({
  place: `http://${replica}:8080`,
  replica,
  merchants: [generation === undefined ? { id } : { id, generation }],
});
const disagreed = { merchant: 'shop', newest: 8, behind: ['b'], runbook: 'replicas-disagree' };

describe('replicas that hold different sessions of a merchant', () => {
  it('are found by the generations that they list', () => {
    expect(disagreementsOf([look('a', 8), look('b', 7)])).toEqual([disagreed]);
    expect(disagreementsOf([look('a', 8), look('b', 8)])).toEqual([]);
    expect(disagreementsOf([look('a', 8), look('b')])).toEqual([]);
    expect(disagreementsOf([look('a', 8), look('b', 7, 'kiosk')])).toEqual([]);
  });

  it('disagree while one of them has not come as far as another had a moment before', () => {
    const before = disagreementsOf([look('a', 8), look('b', 7)]);
    expect(lastingOf(before, [look('a', 8), look('b', 7)])).toEqual([disagreed]);
    expect(lastingOf(before, [look('a', 9), look('b', 7)])).toEqual([disagreed]);
    expect(lastingOf(before, [look('a', 9), look('b', 8)])).toEqual([]);
    expect(lastingOf(before, [look('a', 8), look('b', 9)])).toEqual([]);
    expect(lastingOf(before, [look('a', 8)])).toEqual([]);
  });

  it('are named as they name themselves, or by their address where they do not', () => {
    const of = (...looks: Look[]): readonly string[] => disagreementsOf(looks).map(disagreementText);
    const than = 'an older session than generation 8, which another replica has had for more than a second';
    expect(of(look('a', 8), look('b', 7))).toEqual([`shop: b holds ${than} (runbook: replicas-disagree)`]);
    const { place, merchants } = look('c', 6);
    expect(of(look('a', 8), look('b', 7), { place, merchants })).toEqual([
      `shop: b, http://c:8080 hold ${than} (runbook: replicas-disagree)`,
    ]);
  });
});
