import { readFileSync } from 'node:fs';
import { storeRefusal } from './store-refusals.js';

const RUNBOOK = new URL('../../../docs/runbooks/store-down.md', import.meta.url);

describe('a refusal of the store', () => {
  it.each(['READONLY', 'OOM', 'MISCONF', 'NOAUTH', 'WRONGPASS', 'NOPERM', 'DENIED', 'LOADING', 'MASTERDOWN'])(
    'is told with what it means and what to do about it, and has a line in the runbook: %s',
    (code) => {
      const { is, remedy } = storeRefusal(code)!;
      expect(`the store ${is}`).toMatch(/^the store (is|has|cannot|wants|does|denies) [^.]+$/);
      expect(remedy).toMatch(/^[A-Z][^.]*(\.\w[^.]*)*$/);
      expect(readFileSync(RUNBOOK, 'utf8')).toMatch(new RegExp(`^\\| \`${code}\` +\\| [A-Z]`, 'm'));
    },
  );

  it('is told by its code alone where that is not known', () => {
    expect([storeRefusal('SOMETHING'), storeRefusal(undefined)]).toEqual([undefined, undefined]);
  });
});
