import { BrokerError } from '#libs/errors';
import { TLS_TERMS } from '#libs/tls';
import { clusterOptions, DEFAULT_REDIS_TIMEOUTS, reconnectDelayMs, serverOptions } from './connection-profile.js';
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
    ['sentinel', { kind: 'sentinel', sentinels: [first, second], name: 'pay' }, 'pay of the sentinels a:1, [::1]:2'],
    ['cluster', { kind: 'cluster', nodes: [first, second] }, 'a:1, [::1]:2'],
  ])('is given in one line, without credentials: %s', (_kind, connection, address) => {
    expect(addressOf(connection)).toBe(address);
  });
});

const address = { host: 'store', port: 6379 };

describe('reconnectDelayMs', () => {
  it('doubles its bound up to the longest delay', () => {
    const bounds = [1, 2, 3, 4, 5, 1_000, Infinity].map((attempt) => reconnectDelayMs(attempt, () => 1));
    expect(bounds).toEqual([100, 200, 400, 500, 500, 500, 500]);
  });

  it('draws anything below the bound, so that replicas spread', () => {
    expect([0, 0.25, 0.999].map((drawn) => reconnectDelayMs(9, () => drawn))).toEqual([0, 125, 500]);
  });
});

describe('the connection profile', () => {
  const single = serverOptions({ kind: 'single', address, database: 2 }, DEFAULT_REDIS_TIMEOUTS);
  const cluster = clusterOptions({ kind: 'cluster', nodes: [address] }, DEFAULT_REDIS_TIMEOUTS);

  it.each([
    ['a server', single],
    ['the nodes of a cluster', cluster.redisOptions],
  ])('ends every command in time and sends none twice, for %s', (_name, options) => {
    expect(options).toMatchObject({
      commandTimeout: 500,
      connectTimeout: 1_500,
      socketTimeout: 2_000,
      keepAlive: 5_000,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
    });
  });

  it('does not send a command again when a node of the cluster goes away', () => {
    expect(cluster).toMatchObject({ enableOfflineQueue: false, retryDelayOnFailover: 0, retryDelayOnClusterDown: 0 });
  });

  it.each([
    ['READONLY You can’t write against a read only replica.', 1],
    ['LOADING Redis is loading the dataset in memory', 1],
    ['MASTERDOWN Link with MASTER is down', 1],
    ['OOM command not allowed', false],
    ['NOPERM the READONLY user', false],
  ])('on "%s" reconnects: %s, and never re-sends', (message, expected) => {
    expect(single.reconnectOnError?.(new Error(message))).toBe(expected);
  });

  it('never gives up', () => {
    for (const attempt of [1, 50, 100_000]) expect(single.retryStrategy?.(attempt)).toEqual(expect.any(Number));
  });

  it('verifies TLS everywhere and cannot be told not to', () => {
    const tls = { ca: 'authority', servername: 'store.example' };
    const expected = { ...tls, rejectUnauthorized: true, ...TLS_TERMS };
    const sentinel = serverOptions(
      { kind: 'sentinel', sentinels: [address], name: 'primary', tls },
      DEFAULT_REDIS_TIMEOUTS,
    );
    expect(sentinel).toMatchObject({ tls: expected, enableTLSForSentinelMode: true });
    expect(
      clusterOptions({ kind: 'cluster', nodes: [address], tls }, DEFAULT_REDIS_TIMEOUTS).redisOptions,
    ).toMatchObject({
      tls: expected,
    });
    expect(single).not.toHaveProperty('tls');
  });
});
