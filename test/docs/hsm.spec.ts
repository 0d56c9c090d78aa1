import { readFileSync } from 'node:fs';
import { tokenFaults } from '#libs/pkcs11';

describe('docs/hsm.md', () => {
  it('lists exactly the faults of tokens, in the order and the words of the code', () => {
    const page = readFileSync(new URL('../../docs/hsm.md', import.meta.url), 'utf8');
    const section = page.slice(page.indexOf('## Faults'), page.indexOf('## From a file'));
    const rows = [...section.matchAll(/^\| `([a-z0-9_]+)` +\| (.+?) +\|$/gm)].map(([, name, means]) => [name, means]);
    expect(rows).toEqual(Object.entries(tokenFaults));
  });
});
