import { faultsOf, type Observation, spreadsOf } from './history-checker.js';

const bounds = { staleForMs: 50, mayOverlap: false };
const read = (replica: number, atMs: number, generation: number): Observation => ({
  kind: 'read',
  replica,
  atMs,
  generation,
  token: `token-${generation}`,
  expiresAtMs: 10_000,
});
const adoption = (replica: number, atMs: number, generation: number): Observation => ({
  kind: 'adoption',
  replica,
  atMs,
  generation,
  token: `token-${generation}`,
});
const call = (startedAtMs: number, endedAtMs: number): Observation => ({ kind: 'call', startedAtMs, endedAtMs });

const sound: readonly Observation[] = [
  call(0, 10),
  adoption(0, 11, 1),
  adoption(1, 13, 1),
  read(0, 20, 1),
  read(1, 21, 1),
  call(1_000, 1_010),
  adoption(1, 1_011, 2),
  read(0, 1_012, 1),
  adoption(0, 1_020, 2),
  read(0, 1_100, 2),
];

describe('the check of a history', () => {
  it('finds nothing in a sound one, although replicas learn of a generation one after the other', () => {
    expect(faultsOf(sound, bounds)).toEqual([]);
  });

  it('does not depend on the order in which it was written down', () => {
    expect(faultsOf([...sound].reverse(), bounds)).toEqual([]);
  });

  const seeded: Record<string, [fault: readonly Observation[], found: string]> = {
    'a stale read': [[read(0, 1_062, 1)], 'replica 0 served 1 although 2 had long been known'],
    'two creates at once': [[call(1_005, 1_030)], 'two create calls were in flight at once'],
    'a generation that goes back in memory': [[adoption(0, 1_200, 1)], 'replica 0 took over 1 after 2'],
    'a generation that goes back for a reader': [
      [read(0, 1_019, 2), read(0, 1_019.5, 1)],
      'replica 0 served 1 after 2',
    ],
    'a read past the expiry': [
      [{ ...read(1, 2_000, 2), expiresAtMs: 2_000 } as Observation],
      'replica 1 served 2 past its expiry',
    ],
    'two sessions under one generation': [
      [{ kind: 'adoption', replica: 2, atMs: 1_030, generation: 2, token: 'another' }],
      'generation 2 stands for two sessions',
    ],
  };

  it.each(Object.entries(seeded))('finds %s', (_name, [fault, found]) => {
    expect(faultsOf([...sound, ...fault], bounds)).toContain(found);
  });

  it('lets calls overlap where replicas may authorize alone', () => {
    expect(faultsOf([...sound, call(1_005, 1_030)], { ...bounds, mayOverlap: true })).toEqual([]);
  });

  it('measures how long a generation takes to reach every replica', () => {
    expect(spreadsOf(sound, 2)).toEqual([2, 9]);
  });
});
