import { explore } from './explore.js';
import { mutations } from './mutations.js';
import { rulesWith } from './world.js';

const LIMIT = 1_000_000;

describe('the protocol of two replicas and one fault, every interleaving of it', () => {
  it.each(['fail', 'authorize'] as const)(
    'breaks no invariant when the store outage policy is `%s`',
    (onStoreOutage) => {
      const bounds = { replicas: 2, faults: 1, rules: rulesWith(onStoreOutage), maxStates: LIMIT };
      const { states, actions, depth, isComplete, breach } = explore(bounds);
      console.log(`2 replicas, 1 fault, ${onStoreOutage}: ${states} states, ${actions} actions, ${depth} steps deep`);
      expect(breach && { name: breach.invariant.name, trace: breach.trace }).toBeUndefined();
      expect(isComplete).toBe(true);
    },
    120_000,
  );
});

describe('the explorer', () => {
  it.each(mutations)(
    'finds that $mistake',
    ({ breaks, mistake: _mistake, ...bounds }) => {
      const { breach, states } = explore({ replicas: 2, maxStates: LIMIT, ...bounds });
      expect({ breaks: breach?.invariant.name, states }).toEqual({ breaks, states });
      expect(breach?.trace.length).toBeGreaterThan(0);
    },
    120_000,
  );

  it('says so when it did not see everything', () => {
    const seen = explore({ replicas: 2, faults: 1, rules: rulesWith('fail'), maxStates: 500 });
    expect(seen).toMatchObject({ isComplete: false, states: 500 });
  });
});
