import { describeWith } from '#libs/testing';
import { matrixCases } from './cases/index.js';
import { playCase } from './matrix-case.js';

/** The cases of the matrix that take little time and no processes; `npm run faults` plays all of them, and measures. */
const CHEAP = [
  'script-flush',
  'merchant-deleted',
  'announcements-cut',
  'publish-reply-lost',
  'forged-generation',
  'wrong-type',
];

describeWith('redis-server', 'a fault of the store alone', () => {
  it.each(CHEAP)('costs no create call, and gives no two sessions one generation: %s', async (name) => {
    const matrixCase = matrixCases.find((one) => one.name === name);
    if (matrixCase === undefined) throw new Error(`the matrix has no case ${name}`);
    const { seen, expected, wrong } = await playCase(matrixCase);
    expect(seen).toBe(expected);
    expect(wrong).not.toContain('one generation names two sessions');
  });
});
