import { environmentCheck } from './environment-check.js';

async function findings(openFiles: number | undefined, memoryMib: number): Promise<readonly string[]> {
  const limits = async (): Promise<{ openFiles: number | undefined; memoryBytes: number }> => ({
    openFiles,
    memoryBytes: memoryMib * 2 ** 20,
  });
  const verdict = await environmentCheck(
    { connections: 10_000, because: 'http.maxWatchers', environment: {} },
    limits,
  ).run(new AbortController().signal);
  if (verdict.kind !== 'looked') throw new Error(verdict.kind);
  return verdict.findings.map(({ level, message }) => `${level}: ${message}`);
}

describe('environmentCheck', () => {
  it('warns of too few open files for the connections that are allowed, and of too little memory', async () => {
    expect(await findings(1_024, 128)).toEqual([
      'warning: 128 MiB of memory',
      'warning: at most 1024 open files, but http.maxWatchers needs 10000 connections',
    ]);
    expect(await findings(Infinity, 256)).toEqual(['fact: 256 MiB of memory', 'fact: open files: Infinity']);
    expect(await findings(undefined, 256)).toContain('fact: open files: the platform tells no limit');
  });
});
