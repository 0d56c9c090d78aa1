import { sealedBodyOf } from './received-notification.js';

const JWE = 'eyJhbGciOiJFQ0RILUVTK0EyNTZLVyJ9.a2V5.aXY.Y2lwaGVydGV4dA.dGFn';

describe('a notification that was received', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['by its header', { 'x-encrypted_body': 'true' }, JWE],
    ['by its header in another case', { 'X-Encrypted_Body': ' TRUE ' }, JWE],
    ['by one of several values', { 'x-encrypted_body': ['true'] }, JWE],
    ['by its form, as text/plain', { 'content-type': 'text/plain' }, JWE],
    ['by its form, whatever the headers have become', { 'content-type': 'application/json' }, JWE],
    ['with a line end after it', {}, `${JWE}\r\n`],
  ])('is sealed: %s', (_how, headers, body) => {
    expect(sealedBodyOf({ headers, body })).toBe(JWE);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['JSON', { 'content-type': 'application/json' }, '{"a":"b.c.d.e.f"}'],
    ['JSON that says so', { 'x-encrypted_body': 'false' }, '{}'],
    ['nothing', {}, ''],
  ])('is in clear: %s', (_what, headers, body) => {
    expect(sealedBodyOf({ headers, body })).toBeUndefined();
  });

  it('is to be opened when its header says so, also if nothing of the kind is there', () => {
    expect(sealedBodyOf({ headers: { 'x-encrypted_body': 'true' }, body: '{}' })).toBe('{}');
  });

  it.each<[string, Record<string, unknown>]>([
    ['a number', { age: 5 }],
    ['a list of numbers', { age: [5] }],
    ['too many', Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`h${index}`, 'x']))],
  ])('has no headers that are none: %s', (_what, headers) => {
    expect(() => sealedBodyOf({ headers, body: '{}' })).toThrow('headers: must be');
  });
});
