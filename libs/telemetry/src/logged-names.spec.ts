import { someOf } from '#libs/errors';
import { createLogger } from './logger.js';

describe('names in a line of the log', () => {
  it('are all there, whatever they are names of', () => {
    const lines: string[] = [];
    const logger = createLogger({ name: 'broker', destination: { write: (line) => void lines.push(line) } });
    const names = ['auth.tokens', 'auth.policies', 'auth.jwt', 'token-desk', 'kiosk'];
    logger.info({ settings: someOf(names) }, 'changed');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ settings: names.join(', ') });
  });
});
