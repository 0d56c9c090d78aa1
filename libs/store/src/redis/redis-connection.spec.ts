import { BrokerError } from '#libs/errors';
import { addressOf, parseRedisUrl, type RedisConnection } from './redis-connection.js';

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

describe('the address of a Redis', () => {
  const [first, second] = [
    { host: 'a', port: 1 },
    { host: '::1', port: 2 },
  ];
  it.each<[RedisConnection['kind'], RedisConnection, string]>([
    ['single', { kind: 'single', address: second, database: 0, credentials: { password: 'canary' } }, '[::1]:2'],
    [
      'sentinel',
      { kind: 'sentinel', sentinels: [first, second], name: 'pay', database: 0 },
      'pay of the sentinels a:1, [::1]:2',
    ],
    ['cluster', { kind: 'cluster', nodes: [first, second] }, 'a:1, [::1]:2'],
  ])('is given in one line, without credentials: %s', (_kind, connection, address) => {
    expect(addressOf(connection)).toBe(address);
  });
});
