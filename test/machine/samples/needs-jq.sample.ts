import { execFileSync } from 'node:child_process';
import { describeWith, toolPath } from '#libs/testing';

describeWith('jq', 'a suite that needs jq', () => {
  it('starts it', () => {
    expect(execFileSync(toolPath('jq'), ['-n', '1'], { encoding: 'utf8' })).toBe('1\n');
  });

  it('starts it again', () => {
    expect(execFileSync(toolPath('jq'), ['-n', '2'], { encoding: 'utf8' })).toBe('2\n');
  });
});

describe('a suite beside it', () => {
  it('needs nothing', () => {
    expect(1 + 1).toBe(2);
  });
});
