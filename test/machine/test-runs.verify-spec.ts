import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const root = join(import.meta.dirname, '..', '..');
const JEST = ['--experimental-vm-modules', join(root, 'node_modules/jest/bin/jest.js'), '-i'];
const CONFIG = ['--config', join(root, 'test/machine/samples/jest.config.mjs')];

interface Run {
  readonly code: number | null;
  readonly said: string;
}

/** The tests of the samples, run by jest in a separate process. */
async function runOf(more: Readonly<Record<string, string>>): Promise<Run> {
  const env = { ...process.env, FORCE_COLOR: '0', ...more };
  const args = [...JEST, ...CONFIG];
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [code, , said] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, said };
}

describe('a run of the tests on a machine that lacks a program', () => {
  const nothing = mkdtempSync(join(tmpdir(), 'no-programs-'));
  afterAll(() => rmSync(nothing, { recursive: true }));

  it('passes without the tests that need it, and ends with their number and the reason', async () => {
    const { code, said } = await runOf({ PATH: nothing, CI: 'false' });
    expect(said.trimEnd().split('\n').slice(-3)).toEqual([
      'Skipped for what this machine does not have:',
      expect.stringMatching(/^ {2}jq: 3 tests in 2 suites \(jq cannot be found; .*install jq\)$/),
      'Skipped in all: 3 tests in 2 suites, 1 of them as a whole.',
    ]);
    expect(said).toMatch(/^Tests: +3 skipped, 1 passed, 4 total$/m);
    expect(code).toBe(0);
  });

  it('fails in CI, and says what is missing', async () => {
    const { code, said } = await runOf({ PATH: nothing, CI: 'true' });
    expect(said).toContain('In CI nothing may be skipped, but jq cannot be found.');
    expect(said).toMatch(/^Tests: +2 failed, 1 passed, 3 total$/m);
    expect(code).toBe(1);
  });
});
