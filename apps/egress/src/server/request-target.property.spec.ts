import fc from 'fast-check';
import { requestTargetOf } from './request-target.js';

const pieces = fc.constantFrom(
  ...[
    '/',
    '//',
    '.',
    '..',
    '%2e',
    '%2F',
    '\\',
    ';',
    '?',
    '#',
    '@',
    ':',
    '*',
    '+',
    '~',
    ' ',
    '\t',
    '\r\n',
    '\0',
    'á',
    'ecom',
    'A-1_',
  ],
);
const targets = fc.oneof(
  fc.array(pieces, { maxLength: 12 }).map((parts) => `/${parts.join('')}`),
  fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join('')),
  fc.string({ unit: 'binary' }),
);

describe('the target of a request, whatever was sent', () => {
  it('is passed on as it was written, or not at all', () => {
    fc.assert(
      fc.property(targets, (url) => {
        const target = requestTargetOf(url);
        if (target !== undefined) expect(target.path + target.query).toBe(url);
      }),
    );
  });

  it('has no path that somebody could read in another way', () => {
    fc.assert(
      fc.property(targets, (url) => {
        const path = requestTargetOf(url)?.path;
        if (path === undefined) return;
        expect(path).toMatch(/^\/[\x21-\x7e]+$/);
        expect(path).not.toMatch(/[%\\;?#]|\/\/|\/\.{1,2}(?:\/|$)/);
        // The URL standard, which some gateways follow, finds nothing to normalise either.
        expect(new URL(`http://gateway.test${path}`).pathname).toBe(path);
      }),
    );
  });

  it('ends no line of a request', () => {
    fc.assert(
      fc.property(targets, (url) => {
        const target = requestTargetOf(url);
        if (target !== undefined) expect(target.path + target.query).not.toMatch(/[\s\0\x7f-\uffff]/);
      }),
    );
  });
});
