import type { Sighting, Sightings } from '#libs/session';

/** One adapter over its own data, empty at first. */
export interface SightingsUnderTest {
  /** Two replicas' views of the same data. */
  readonly replicas: readonly [Sightings, Sightings];
  readonly advance: (durationMs: number) => Promise<void>;
  readonly dispose: () => Promise<void>;
}

const DAY_MS = 86_400_000;
const NAME = 'Gq9cKJ2nb2kO3l6dXw0yqQ';
const OTHER = 'another-name-of-it_1234';

/** What every adapter of the port `Sightings` must do. */
export function describeSightingsContract(name: string, make: () => Promise<SightingsUnderTest>): void {
  describe(`${name} as a witness`, () => {
    let underTest: SightingsUnderTest;
    const seenBy = (replica: 0 | 1, names: readonly string[], wish: Partial<Sighting> = {}): Promise<boolean> =>
      underTest.replicas[replica].firstSeen({ merchant: 'shop', forMs: DAY_MS, ...wish, names });
    beforeEach(async () => {
      underTest = await make();
    });
    afterEach(() => underTest.dispose());

    it('knows again what any replica has seen', async () => {
      expect(await seenBy(0, [NAME])).toBe(true);
      expect(await seenBy(0, [NAME])).toBe(false);
      expect(await seenBy(1, [NAME])).toBe(false);
    });

    it('keeps merchants apart', async () => {
      expect(await seenBy(0, [NAME])).toBe(true);
      expect(await seenBy(1, [NAME], { merchant: 'second' })).toBe(true);
    });

    it('tells one of many who ask at once that it is new', async () => {
      const asking = Array.from({ length: 40 }, (_, index) => seenBy(index % 2 === 0 ? 0 : 1, [NAME]));
      expect((await Promise.all(asking)).filter((isFirst) => isFirst)).toHaveLength(1);
    });

    it('knows a thing by any of its names, and by each of them from then on', async () => {
      expect(await seenBy(0, [NAME])).toBe(true);
      expect(await seenBy(1, [OTHER, NAME])).toBe(false);
      expect(await seenBy(0, [OTHER])).toBe(false);
    });

    it('forgets when the time is over', async () => {
      expect(await seenBy(0, [NAME], { forMs: DAY_MS })).toBe(true);
      await underTest.advance(DAY_MS);
      expect(await seenBy(1, [NAME], { forMs: DAY_MS })).toBe(true);
    });
  });
}
