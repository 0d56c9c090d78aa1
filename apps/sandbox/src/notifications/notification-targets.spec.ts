import { NotificationTargets } from './notification-targets.js';

describe('where notifications may go', () => {
  const targets = new NotificationTargets(['https://shop.example:8443'], () => 8081);

  it.each([
    'http://127.0.0.1:3000/hook',
    'http://127.9.9.9/hook',
    'http://localhost:3000/hook?a=b',
    'https://[::1]:3000/',
    'https://shop.example:8443/any/path',
  ])('to %s', (url) => {
    expect(targets.allowed(url)?.href).toBe(url);
  });

  it.each([
    'http://127.0.0.1:8081/control/reset',
    'http://localhost:8081/_sandbox/reset',
    'https://shop.example/hook',
    'http://shop.example:8443/hook',
    'http://shop.example:8443@evil.example/',
    'http://127.0.0.1.evil.example/',
    'http://localhost.evil.example/',
    'http://[::ffff:10.0.0.1]/',
    'http://10.0.0.1/',
    'http://0.0.0.0:3000/',
    'ftp://127.0.0.1/',
    '/hook',
    '',
  ])('not to "%s"', (url) => {
    expect(targets.allowed(url)).toBeUndefined();
  });

  it.each(['http://2130706433:3000/', 'http://0x7f.1:3000/'])('to this machine however it is written: %s', (url) => {
    expect(targets.allowed(url)?.hostname).toBe('127.0.0.1');
  });
});
