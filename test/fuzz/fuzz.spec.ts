import fc from 'fast-check';
import { fuzzBatch } from './fuzz-batch.js';
import { demand, pureTarget } from './fuzz-target.js';
import { parsers } from './targets.js';

const SEED = 20_260_101;
/** The part of a round that is run here: enough to see that a target is fed at all. */
const SHARE = 20;

describe('what parsers are fed', () => {
  it.each(parsers.map((target) => [target.name, target] as const))(
    'shows no fault, in the few inputs of a fixed seed: %s',
    async (_name, { open, runsPerRound }) => {
      const target = await open();
      const runs = Math.ceil(runsPerRound / SHARE);
      const { find, inputs } = await fuzzBatch(target, { seed: SEED, runs });
      expect(find).toBeUndefined();
      expect(inputs).toBe(runs);
    },
  );

  it('shows the fault that is planted, with the seed and the path that show it again', async () => {
    const planted = pureTarget({ name: 'planted', runsPerRound: 1_000 }, () =>
      fc.property(fc.nat(), (number) => demand(number % 7 !== 3, 'no number is three more than a multiple of seven')),
    );
    const target = await planted.open();
    const { find } = await fuzzBatch(target, { seed: SEED, runs: 1_000 });
    const again = await fuzzBatch(target, { seed: find?.seed ?? 0, path: find?.path ?? '', runs: 1_000 });
    expect(find?.error).toContain('multiple of seven');
    expect(again.find?.input).toBe(find?.input);
    expect(again.inputs).toBe(1);
  });
});
