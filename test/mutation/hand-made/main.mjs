// Mistakes that a person could make in libs/session, against its specs: `npm run mutation:hand-made [-- --processes
// <n>]`. Exits with 1 if one of them goes unnoticed.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { noticed } from '../noticed.mjs';
import { handMade } from './mutants.mjs';

const root = join(import.meta.dirname, '..', '..', '..');
const { values } = parseArgs({ options: { processes: { type: 'string', default: '1' } } });
const SPECS = [{ file: 'libs/session' }, { file: 'test/faults/(?!outages|renewal)' }, { file: 'test/faults' }];

/** Where the mistake is made; a line that has been rewritten since is not an unnoticed mistake. */
function placed({ name, file, was, becomes }) {
  const source = readFileSync(join(root, file), 'utf8');
  const start = source.indexOf(was);
  if (start < 0 || source.includes(was, start + 1)) throw new Error(`${file} has not one line like this: ${was}`);
  return { name, file, start, end: start + was.length, replacement: becomes };
}

await noticed({
  mutants: handMade.map(placed),
  specs: SPECS,
  config: 'test/mutation/hand-made/jest.config.mjs',
  processes: Number(values.processes),
  onResult: ({ name, noticedBy }) => {
    console.log(noticedBy === undefined ? `SURVIVED ${name}` : `noticed  ${name}\n         by: ${noticedBy}`);
    if (noticedBy === undefined) process.exitCode = 1;
  },
});
