import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const sources = globSync('apps/broker/src/**/*.ts', { cwd: root }).filter((file) => !file.endsWith('.spec.ts'));

/** Files that, once loaded, load what the pattern names at once: type-only imports are gone by then. */
const loadersOf = (specifier: RegExp): string[] =>
  sources.filter((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(/^(?:import|export) (?!type )[^;]*? from '([^']+)';/gms)].some(([, from = '']) =>
      specifier.test(from),
    );
  });

describe('what the start of a broker loads', () => {
  it('leaves the library that describes APIs to the first who asks for the contract', () => {
    expect(loadersOf(/^@nestjs\/swagger$/)).toEqual(['apps/broker/src/docs/open-api.ts']);
    expect(loadersOf(/\/open-api\.js$/)).toEqual([]);
  });

  it('takes single rules for bodies, and not all that there are', () => {
    expect(loadersOf(/^class-validator$/)).toEqual([]);
    expect(loadersOf(/^class-validator\//)).toEqual(['apps/broker/src/http/body-rules.ts']);
  });
});
