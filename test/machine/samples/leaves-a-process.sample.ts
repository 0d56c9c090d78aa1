import { spawn } from 'node:child_process';

describe('a suite whose hook fails half-way', () => {
  beforeAll(() => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1_000)'], { detached: true });
    process.stderr.write(`started ${child.pid}\n`);
    throw new Error('the next one did not start');
  });

  it('does not end what it started', () => undefined);
});
