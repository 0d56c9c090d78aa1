import { execFileSync } from 'node:child_process';
import { explore } from './explore.js';
import { mutations } from './mutations.js';
import { rulesWith } from './world.js';

const LIMIT = 1_000_000;
const rules = rulesWith('fail');

describe('the protocol of two replicas and one fault, every interleaving of it', () => {
  it('breaks no invariant when no replica creates alone, as the command shows', () => {
    const bounds = ['--replicas', '2', '--faults', '1', '--on-store-outage', 'fail', '--max-states', String(LIMIT)];
    const output = execFileSync('npm', ['run', '--silent', 'explore', '--', ...bounds], { encoding: 'utf8' });
    console.log(output);
    expect(output).toMatch(/\n\d{4,} states, \d+ actions, \d+ steps deep/);
    expect(output).toContain('complete: nothing broken');
  }, 240_000);

  it('breaks no invariant when replicas may create alone', () => {
    const seen = explore({ replicas: 2, faults: 1, rules: rulesWith('authorize'), maxStates: LIMIT });
    expect(seen).toMatchObject({ isComplete: true, states: expect.any(Number) });
    expect(seen.breach).toBeUndefined();
    expect(seen.states).toBeGreaterThan(1_000);
  });
});

describe('the explorer', () => {
  it.each(mutations)('finds that $mistake', ({ breaks, mistake: _mistake, ...bounds }) => {
    const { breach, states } = explore({ replicas: 2, maxStates: LIMIT, ...bounds });
    expect({ breaks: breach?.invariant.name, states }).toEqual({ breaks, states });
    expect(breach?.trace.length).toBeGreaterThan(0);
  });

  it('says so when it did not see everything', () => {
    const seen = explore({ replicas: 2, faults: 1, rules, maxStates: 500 });
    expect(seen).toMatchObject({ isComplete: false, states: 500 });
  });
});
