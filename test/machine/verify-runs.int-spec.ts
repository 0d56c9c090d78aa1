import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { eventually } from '#libs/testing';

const root = join(import.meta.dirname, '..', '..');

interface Result {
  readonly name: string;
  readonly seconds: number;
  readonly passed: boolean;
  readonly verdict: string;
}
interface Run {
  readonly root: string;
  readonly folder: string;
  readonly stopping: AbortSignal;
  readonly say: (line: string) => void;
  readonly everyMs?: number;
}
type Part = Readonly<Record<'name' | 'proves' | 'command', string>>;

const load = async <Module>(file: string): Promise<Module> =>
  (await import(pathToFileURL(join(root, 'tools/verify', file)).href)) as Module;
const { runPart } = await load<{ runPart: (part: Part, run: Run) => Promise<Result> }>('run-part.mjs');
const { tableOf } = await load<{ tableOf: (results: readonly Result[]) => string }>('tables.mjs');

describe('a part of verify', () => {
  let folder: string;
  let said: string[];
  let stopping: AbortController;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'verify-'));
    said = [];
    stopping = new AbortController();
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const verified = (command: string, more: Partial<Run> = {}): Promise<Result> =>
    runPart(
      { name: 'hsm', proves: 'keys in an HSM', command },
      { root, folder, stopping: stopping.signal, say: (line) => said.push(line), ...more },
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

  it('says how far it is, by the last line of its output', async () => {
    const going = verified('echo half-way; tail -f /dev/null', { everyMs: 1 });
    await eventually(() => said.some((line) => /^ {3}hsm, \d+ s: half-way$/.test(line)));
    stopping.abort();
    expect(await going).toMatchObject({ passed: false });
  });

  it('tells of tests that were skipped', async () => {
    expect(await verified("echo 'Tests:       3 skipped, 20 passed, 23 total'")).toMatchObject({
      passed: true,
      verdict: 'passed, 3 tests skipped',
    });
  });
});

describe('the table of verify', () => {
  it('has a line for each part, and ends with the counts', () => {
    const results = [
      { name: 'hsm', seconds: 7, passed: true, verdict: 'passed' },
      { name: 'manifests', seconds: 93, passed: false, verdict: 'FAILED (1)' },
    ];
    expect(tableOf(results).trim().split('\n')).toEqual([
      'part       seconds  verdict',
      'hsm        7        passed',
      'manifests  93       FAILED (1)',
      '',
      '1 passed, 1 failed',
    ]);
  });
});
