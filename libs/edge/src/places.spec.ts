import { Places } from './places.js';

describe('the places for requests under way', () => {
  const taken = (places: Places, client: string): number => {
    for (let count = 0; ; count += 1) {
      try {
        places.take(client);
      } catch (error) {
        expect(error).toMatchObject({ code: 'overloaded' });
        return count;
      }
    }
  };

  it('are half for a client alone, and half of what is left for each that comes later', () => {
    const places = new Places(1_024);
    expect(['greedy', 'also greedy', 'late', 'later'].map((client) => taken(places, client))).toEqual([
      512, 256, 128, 64,
    ]);
  });

  it('are taken again once they are given back', () => {
    const places = new Places(2);
    const giveBack = places.take('shop');
    expect(taken(places, 'shop')).toBe(0);
    giveBack();
    expect(taken(places, 'shop')).toBe(1);
  });
});
