import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const root = join(import.meta.dirname, '..', '..');

interface Result {
  readonly name: string;
  readonly passed: boolean;
  readonly verdict: string;
}
interface Run {
  readonly root: string;
  readonly folder: string;
  readonly stopping: AbortSignal;
  readonly say: (line: string) => void;
}
type Part = Readonly<Record<'name' | 'proves' | 'command', string>>;

const load = async <Module>(file: string): Promise<Module> =>
  (await import(pathToFileURL(join(root, 'tools/verify', file)).href)) as Module;
const { runPart } = await load<{ runPart: (part: Part, run: Run) => Promise<Result> }>('run-part.mjs');

describe('a part of verify', () => {
  let folder: string;
  let said: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'verify-'));
    said = [];
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const verified = (command: string): Promise<Result> =>
    runPart(
      { name: 'hsm', proves: 'keys in an HSM', command },
      { root, folder, stopping: new AbortController().signal, say: (line) => said.push(line) },
    );

  it('passes if its command does, and keeps what that said', async () => {
    expect(await verified('echo one; echo two >&2')).toMatchObject({ name: 'hsm', passed: true, verdict: 'passed' });
    expect(said[0]).toBe('\n== hsm: keys in an HSM');
    expect(said.at(-1)).toMatch(/^== hsm: passed \(\d+ s\)$/);
    expect(readFileSync(join(folder, 'hsm.log'), 'utf8').split('\n').toSorted()).toEqual(['', 'one', 'two']);
  });

  it('fails if its command does, and shows the last thirty lines and where the others are', async () => {
    expect(await verified('seq 100; exit 3')).toMatchObject({ passed: false, verdict: 'FAILED (3)' });
    const shown = said
      .at(-2)
      ?.split('\n')
      .map((line) => line.trim());
    expect(shown).toEqual([...Array.from({ length: 30 }, (_, at) => `${at + 71}`), `all of it: ${folder}/hsm.log`]);
  });

  it('tells of tests that were skipped', async () => {
    expect(await verified("echo 'Tests:       3 skipped, 20 passed, 23 total'")).toMatchObject({
      passed: true,
      verdict: 'passed, 3 tests skipped',
    });
  });
});
