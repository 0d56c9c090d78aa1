import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inSource } from './source-place.js';

/** One segment: it maps the first column of the first line to line 5 of the source. */
const map = { version: 3, sources: ['../../apps/broker/src/broker.ts'], names: [], mappings: 'AAIA' };

describe('the place of a frame in the sources', () => {
  const folder = mkdtempSync(join(tmpdir(), 'source-place-'));
  const urlOf = (name: string): string => pathToFileURL(join(folder, name)).href;
  beforeAll(() => {
    writeFileSync(join(folder, 'broker.js.map'), JSON.stringify(map));
    writeFileSync(join(folder, 'broken.js.map'), 'no map');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is what the map says', () => {
    expect(inSource(`at start (${urlOf('broker.js')}:1:1)`)).toBe('at start (apps/broker/src/broker.ts:5:1)');
    expect(inSource(`at ${urlOf('broker.js')}:1:1`)).toBe('at apps/broker/src/broker.ts:5:1');
  });

  it.each([
    ['a file without a map', `at start (${urlOf('other.js')}:1:1)`],
    ['a map that is none', `at start (${urlOf('broken.js')}:1:1)`],
    ['a place that the map does not have', `at start (${urlOf('broker.js')}:0:0)`],
    ['a part of Node.js', 'at node:internal/process/task_queues:105:5'],
    ['no place at all', 'at <anonymous>'],
  ])('stays what it was with %s', (_what, frame) => {
    expect(inSource(frame)).toBe(frame);
  });
});
