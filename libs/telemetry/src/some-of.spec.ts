import { createLogger } from './logger.js';
import { someOf } from './some-of.js';

describe('names in a line of the log', () => {
  it('are all there, whatever they are names of', () => {
    const lines: string[] = [];
    const logger = createLogger({ name: 'broker', destination: { write: (line) => void lines.push(line) } });
    const names = ['auth.tokens', 'auth.policies', 'auth.jwt', 'token-desk', 'kiosk'];
    logger.info({ settings: someOf(names) }, 'changed');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ settings: names.join(', ') });
  });

  it('are at most twenty, and how many more there were', () => {
    const names = Array.from({ length: 23 }, (_, index) => `m${index}`);
    expect(someOf(names)).toMatch(/m19, and 3 more$/);
    expect([someOf([]), someOf(['a'])]).toEqual(['', 'a']);
  });
});
