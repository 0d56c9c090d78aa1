import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OLDEST_NODE } from '#libs/program';
import type { Verdict } from '../check.js';
import { environmentCheck, type MachineFacts } from './environment-check.js';

const machine: MachineFacts = { nodeVersion: '24.12.0', openFiles: 65_536, memoryBytes: 2 ** 30, environment: {} };
const { signal } = new AbortController();

async function findings(change: Partial<MachineFacts>): Promise<readonly string[]> {
  const verdict: Verdict = await environmentCheck({ ...machine, ...change }, 10_000).run(signal);
  if (verdict.kind !== 'looked') throw new Error(verdict.kind);
  return verdict.findings.map(({ level, message }) => `${level}: ${message}`);
}

describe('environmentCheck', () => {
  it('demands the Node.js that package.json demands', () => {
    const text = readFileSync(join(import.meta.dirname, '../../../../../package.json'), 'utf8');
    const { engines } = JSON.parse(text) as { engines: { node: string } };
    expect(engines.node).toBe(`>=${OLDEST_NODE}`);
  });

  it.each([
    ['24.11.1', 'fact: Node.js 24.11.1'],
    ['26.0.0', 'fact: Node.js 26.0.0'],
    ['24.11.0', 'fault: Node.js 24.11.0 is too old'],
    ['24.9.9', 'fault: Node.js 24.9.9 is too old'],
    ['22.30.0', 'fault: Node.js 22.30.0 is too old'],
  ])('compares versions as numbers: %s', async (nodeVersion, expected) => {
    expect(await findings({ nodeVersion })).toContain(expected);
  });

  it('warns of too few open files for the watchers that are allowed, and of too little memory', async () => {
    expect(await findings({ openFiles: 1_024, memoryBytes: 128 * 2 ** 20 })).toEqual([
      'fact: Node.js 24.12.0',
      'warning: 128 MiB of memory',
      'warning: at most 1024 open files, and http.maxWatchers alone allows 10000 connections',
    ]);
    expect(await findings({ openFiles: Infinity })).toContain('fact: open files: Infinity');
  });
});
