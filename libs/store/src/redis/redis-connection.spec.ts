import { BrokerError } from '#libs/errors';
import { parseRedisUrl } from './redis-connection.js';

describe('parseRedisUrl', () => {
  it.each<[string, object]>([
    ['redis://store', { address: { host: 'store', port: 6379 }, database: 0 }],
    ['redis://store:7000/3', { address: { host: 'store', port: 7000 }, database: 3 }],
    ['redis://store/', { address: { host: 'store', port: 6379 }, database: 0 }],
    ['rediss://store', { address: { host: 'store', port: 6379 }, database: 0, tls: {} }],
    ['redis://[::1]:6380', { address: { host: '::1', port: 6380 }, database: 0 }],
    [
      'redis://:p%40ss@store',
      { address: { host: 'store', port: 6379 }, database: 0, credentials: { password: 'p@ss' } },
    ],
    [
      'redis://app:secret@store/1',
      { address: { host: 'store', port: 6379 }, database: 1, credentials: { username: 'app', password: 'secret' } },
    ],
  ])('reads %s', (url, expected) => {
    expect(parseRedisUrl(url)).toEqual({ kind: 'single', ...expected });
  });

  it.each([
    '',
    'store:6379',
    'http://store',
    'redis://',
    'redis://hidden@store/x',
    'redis://hidden@store?db=1',
    'redis:///0',
  ])('refuses %s without quoting it', (url) => {
    let refusal: unknown;
    try {
      parseRedisUrl(url);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(BrokerError);
    expect(refusal).toMatchObject({ code: 'configuration_invalid' });
    expect(String(refusal)).not.toContain('hidden');
  });
});
