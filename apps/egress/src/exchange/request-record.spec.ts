import { errorCodes } from '#libs/errors';
import { outcomeOf } from './request-record.js';

describe('what a request has come to', () => {
  it.each([
    ['gateway_unreachable', 'unreachable'],
    ['answer_late', 'unknown'],
    ['answer_lost', 'unknown'],
    ['answer_unusable', 'unknown'],
    ['answer_unopened', 'unopened'],
    ['session_unavailable', 'no_session'],
    ['internal_error', 'failed'],
    ['unauthenticated', 'refused'],
    ['card_number_in_clear', 'refused'],
  ] as const)('%s is %s', (code, outcome) => {
    expect(outcomeOf(code)).toBe(outcome);
  });

  it('is said to be refused for no failure that can come after something was sent', () => {
    const afterwards = (Object.keys(errorCodes) as (keyof typeof errorCodes)[]).filter((code) =>
      code.startsWith('answer_'),
    );
    expect(afterwards).toHaveLength(4);
    expect(afterwards.map(outcomeOf)).not.toContain('refused');
  });
});
