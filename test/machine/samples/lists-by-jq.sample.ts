import { execFileSync } from 'node:child_process';
import { describeWith, toolPath } from '#libs/testing';

let version: string;

beforeAll(() => {
  version = execFileSync(toolPath('jq'), ['--version'], { encoding: 'utf8' });
});

describeWith('jq', 'a suite whose tests jq lists', () => {
  const names = execFileSync(toolPath('jq'), ['-r', '-n', '"one", "two"'], { encoding: 'utf8' }).trim().split('\n');

  it.each(names)('has %s', (name) => {
    expect(name).toMatch(/^(one|two)$/);
    expect(version).toMatch(/^jq/);
  });
});
