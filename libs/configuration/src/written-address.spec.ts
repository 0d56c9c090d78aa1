import { writtenAddress } from './written-address.js';

describe('an address and its port', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1:24080'],
    ['localhost', 'localhost:24080'],
    ['::', '[::]:24080'],
    ['fd00::2', '[fd00::2]:24080'],
  ])('can be told apart: %s', (host, written) => {
    expect(writtenAddress({ host, port: 24_080 })).toBe(written);
  });
});
