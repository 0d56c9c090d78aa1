import { hostOf } from './host-of.js';

describe('the host of a URL', () => {
  it.each([
    ['http://[::1]:8080/v1', '::1'],
    ['https://127.0.0.1', '127.0.0.1'],
    ['https://broker.example/', 'broker.example'],
  ])('of %s is %s', (url, host) => {
    expect(hostOf(new URL(url))).toBe(host);
  });
});
