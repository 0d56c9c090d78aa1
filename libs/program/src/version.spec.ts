import { readFileSync } from 'node:fs';
import { VERSION } from './version.js';

describe('the version', () => {
  it('is the one that package.json names', () => {
    const path = new URL('../../../package.json', import.meta.url);
    expect(VERSION).toBe((JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version);
  });
});
