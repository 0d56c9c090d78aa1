import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { needed } from './checkout.js';
import type { Demo } from './demo.js';
import { countOf, finding, lookAtAll, type Proof, type Result, tableOf } from './proof.js';
import { buildProofs } from './start-proofs.js';

const demo = {} as Demo;
const looked: string[] = [];
beforeEach(() => looked.splice(0));

const passing = (what: string): Proof => ({
  what,
  look: async () => {
    looked.push(what);
    return finding(`${what} was seen`);
  },
});
const failing = (what: string): Proof => ({
  what,
  look: async () => {
    throw new Error('COPY docs: not found');
  },
});
const resultsOf = (proofs: readonly Proof[]): Promise<readonly Result[]> =>
  lookAtAll(proofs, demo, ({ what }) => looked.push(`told: ${what}`));

describe('the proofs on containers', () => {
  it('are looked at one after the other, whatever one of them shows', async () => {
    const results = await resultsOf([failing('a fault'), passing('memory')]);
    expect(looked).toEqual(['told: a fault', 'memory', 'told: memory']);
    expect(countOf(results)).toEqual({ allPassed: false, sentence: '1 of 2 proofs passed' });
  });

  it('are not run after a failure that each of them would meet, which is told once', async () => {
    const results = await resultsOf([
      { ...failing('the image'), carriesOthers: true },
      passing('up'),
      passing('memory'),
    ]);
    expect(looked).toEqual(['told: the image']);
    expect(tableOf(results).split('\n').slice(2)).toEqual([
      '| the image | it could not be looked at | **Error: COPY docs: not found** |',
      '| up | not run, without the image | not run |',
      '| memory | not run, without the image | not run |',
    ]);
    expect(countOf(results)).toEqual({
      allPassed: false,
      sentence: '0 of 3 proofs passed; 2 not run, without the image',
    });
  });

  it('all pass if nothing is wrong', async () => {
    expect(countOf(await resultsOf([passing('up'), passing('memory')]))).toEqual({
      allPassed: true,
      sentence: '2 of 2 proofs passed',
    });
  });

  it('need an image and a start, and nothing else of each other', () => {
    expect(buildProofs.map(({ carriesOthers }) => carriesOthers)).toEqual([true, true]);
  });
});

describe('the copy of the checkout that the image is built of', () => {
  const dockerfile = readFileSync(join(import.meta.dirname, '../../deploy/Dockerfile'), 'utf8');
  const copies = [...dockerfile.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, names = '']) => names.split(' '));

  it.each(copies)('has %s, which the Dockerfile copies', (name) => {
    expect(needed(name)).toBe(true);
    expect(needed(`${name}/something`)).toBe(true);
  });

  it('lacks what neither image nor compose file uses', () => {
    expect(copies).toContain('docs');
    expect(needed('test/containers/main.ts')).toBe(false);
  });
});
