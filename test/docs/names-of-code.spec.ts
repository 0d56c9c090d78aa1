import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../architecture/rule-tables.js';

const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** What brings cryptography into a file: its modules, and the global of the same name. */
const CRYPTOGRAPHY = /from '(?:node:crypto|jose)'|\bcrypto\.subtle\b/;
const EXEMPT = /\.(?:spec|int-spec)\.ts$|-fixtures\.ts$|^libs\/testing\/|^apps\/sandbox\//;

const [, list = ''] =
  /<!-- cryptography: begin -->([\s\S]*)<!-- cryptography: end -->/.exec(
    read('docs/reference/security-inventory.md'),
  ) ?? [];

describe('the inventory of security', () => {
  it('lists every file that uses cryptography, and no other', () => {
    const files = globSync('{apps,libs}/**/src/**/*.ts', { cwd: root }).filter((file) => !EXEMPT.test(file));
    const found = files.filter((file) => CRYPTOGRAPHY.test(read(file))).sort();
    const listed = [...list.matchAll(/^\| `([^`]+)`/gm)].map(([, file = '']) => file);
    expect(found.length).toBeGreaterThan(20);
    expect(listed.toSorted()).toEqual(found);
  });
});
