import { execFileSync } from 'node:child_process';

const explored = (...args: readonly string[]): string =>
  execFileSync('npm', ['run', '--silent', 'explore', '--', ...args], { encoding: 'utf8' });

describe('the steps of two replicas and the rules of the store', () => {
  it('break no promise under any single fault, in any order of what happens', () => {
    const output = explored('--replicas', '2', '--faults', '1');
    expect(output).toMatch(/\n\d{5,} states, \d+ actions, \d+ steps deep/);
    expect(output).toContain('complete: nothing broken');
  }, 240_000);

  it('break the promise that belongs to each mistake that is planted in them', () => {
    const found = explored('--mistakes', '').trim().split('\n');
    expect(found.length).toBeGreaterThanOrEqual(25);
    expect(found.filter((line) => !line.startsWith('found by '))).toEqual([]);
  }, 600_000);
});
