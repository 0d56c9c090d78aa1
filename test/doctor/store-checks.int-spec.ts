import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  describeWith,
  freePort,
  LoopbackServer,
  RedisProcess,
  startRedisCluster,
  startRedisSentinel,
  TestAuthority,
} from '#libs/testing';
import { Examined, type Examination, messagesOf } from './examined.js';

const PASSWORD = 'canary-password-of-the-store';
const DOCUMENTED =
  '+hello +auth +select +ping +info +subscribe +publish +set +eval +evalsha +time +type +unlink +hstrlen +hmget +hset +hdel +hincrby ' +
  '+zadd +zrange +zcard +zscore +zrem +zremrangebyscore +pexpire';

let examined: Examined;
let gateway: number;
const closers: (() => Promise<unknown>)[] = [];

beforeEach(async () => {
  examined = await Examined.create();
  gateway = await freePort();
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await examined.remove();
});

async function started<Fixture extends { stop: () => Promise<void> }>(starting: Promise<Fixture>): Promise<Fixture> {
  const fixture = await starting;
  closers.push(() => fixture.stop());
  return fixture;
}

/** The exit code is that of the store only if nothing worse is wrong; the gateway is down in all of these. */
async function examineStore(store: string): Promise<Examination> {
  await examined.configure([{ gatewayUrl: `http://127.0.0.1:${gateway}` }], store);
  return examined.doctor();
}

const asUser = ({ port }: RedisProcess): string =>
  `{ type: redis, url: "redis://broker:${PASSWORD}@127.0.0.1:${port}/0", keyPrefix: broker }`;

function setUser(redis: RedisProcess, rights: string): void {
  redis.cli(
    'ACL',
    'SETUSER',
    'broker',
    'reset',
    'on',
    `>${PASSWORD}`,
    '~broker:*',
    '&broker:*',
    '-@all',
    ...rights.split(' '),
  );
}

describeWith('redis-server', 'doctor: a store that is as it should be', () => {
  it('passes with the documented user, and shows no password', async () => {
    const redis = await started(RedisProcess.start());
    setUser(redis, DOCUMENTED);
    const { check, text } = await examineStore(asUser(redis));
    for (const name of ['store.connection', 'store.server', 'store.clock', 'store.rights']) {
      expect(check(name)).toMatchObject({ name, status: 'passed' });
    }
    expect(text).not.toContain(PASSWORD);
  });

  it('is not asked for when it is in memory', async () => {
    expect((await examineStore('{ type: memory }')).check('store.connection').status).toBe('not_applicable');
  });
});

describeWith('redis-server', 'doctor: a store that is not', () => {
  it('has a user without a right', async () => {
    const redis = await started(RedisProcess.start());
    setUser(redis, DOCUMENTED.replace('+zremrangebyscore ', ''));
    const { code, check, text } = await examineStore(asUser(redis));
    expect(code).toBe(3);
    expect(messagesOf(check('store.rights'), 'fault')).toEqual([
      `127.0.0.1:${redis.port}: the store's user may not run ZREMRANGEBYSCORE`,
    ]);
    expect(text).toContain('+zremrangebyscore');
  });

  it('has a user without rights that are asked for on several keys: as many are missing as are named', async () => {
    const redis = await started(RedisProcess.start());
    setUser(redis, DOCUMENTED.replace('+eval ', '').replace('+zadd ', ''));
    const { check } = await examineStore(asUser(redis));
    expect(messagesOf(check('store.rights'), 'fault')).toEqual([
      `127.0.0.1:${redis.port}: the store's user may not run EVAL, ZADD`,
    ]);
    expect(messagesOf(check('store.rights'), 'fact')).toEqual(['19 rights asked for, 2 missing']);
    const { missing } = check('store.rights').facts as { readonly missing: readonly object[] };
    expect(missing).toMatchObject([{ command: 'EVAL' }, { command: 'ZADD' }]);
  });

  it('has a user without any right, which one line mends that takes nothing away and shows no password', async () => {
    const redis = await started(RedisProcess.start());
    setUser(redis, '+hello +auth +ping +info +select');
    redis.cli('ACL', 'SETUSER', 'broker', 'resetkeys', 'resetchannels');
    const { check, text } = await examineStore(asUser(redis));
    expect(messagesOf(check('store.rights'), 'fault').length).toBeLessThanOrEqual(3);
    const { missing } = check('store.rights').facts as { readonly missing: readonly object[] };
    expect(missing).toHaveLength(19);
    expect(text).not.toContain(PASSWORD);
    const remedies = new Set(check('store.rights').findings.flatMap(({ remedy }) => remedy ?? []));
    expect([...remedies]).toEqual([
      expect.stringMatching(/^run on the server: ACL SETUSER broker ~broker:\* &broker:\* \+/),
    ]);
    redis.cli(...([...remedies][0] ?? '').replace('run on the server: ', '').split(' '));
    expect((await examineStore(asUser(redis))).check('store.rights').status).toBe('passed');
    const { text: lines } = await examined.cli('doctor', examined.config);
    expect(lines).not.toContain('ACL SETUSER');
  });

  it('has a user whose line has the rights that are documented', async () => {
    const redis = await started(RedisProcess.start());
    setUser(redis, DOCUMENTED.replace('+zrem ', ''));
    const { text } = await examineStore(asUser(redis));
    const page = readFileSync(join(import.meta.dirname, '../../docs/redis.md'), 'utf8');
    const documented = /^ACL SETUSER .* -@all (\+.*)$/m.exec(page)?.[1];
    expect(documented).toMatch(/\+pexpire$/);
    expect(text).toContain(`ACL SETUSER broker ~broker:* &broker:* ${documented}"`);
  });

  it('does not tell all that is asked: what is not known does not pass', async () => {
    const redis = await started(RedisProcess.start());
    setUser(redis, DOCUMENTED.replace('+info ', '').replace('+time ', ''));
    const { check } = await examineStore(asUser(redis));
    expect(check('store.server').status).toBe('failed');
    expect(check('store.clock').status).toBe('not_run');
  });

  it('evicts keys', async () => {
    const redis = await started(RedisProcess.start({ args: () => ['--maxmemory-policy', 'allkeys-lru'] }));
    const { code, check } = await examineStore(`{ type: redis, url: "${redis.url}" }`);
    expect(code).toBe(2);
    expect(messagesOf(check('store.server'), 'fault').join()).toContain('allkeys-lru');
  });

  it('is full', async () => {
    const redis = await started(RedisProcess.start({ args: () => ['--maxmemory', '1'] }));
    const { check } = await examineStore(`{ type: redis, url: "${redis.url}" }`);
    expect(check('store.rights').findings).toContainEqual({
      ...{ level: 'fault', faultClass: 'tryLater' },
      message: `127.0.0.1:${redis.port} takes no writes (OOM)`,
      remedy: 'raise maxmemory, or free memory; see docs/redis.md: for the broker, such a store refuses',
    });
  });

  it('is a replica', async () => {
    const { replica } = await started(startRedisSentinel());
    const { code, check } = await examineStore(`{ type: redis, url: "${replica.url}" }`);
    expect(code).toBe(2);
    expect(messagesOf(check('store.server'), 'fault').join()).toContain('is a replica');
    expect(messagesOf(check('store.rights'), 'fault').join()).toContain('READONLY');
  });

  it('refuses the password, and everything after is said not to have run', async () => {
    const redis = await started(RedisProcess.start({ args: () => ['--requirepass', 'another'] }));
    const { code, check, text } = await examineStore(
      `{ type: redis, url: "redis://:${PASSWORD}@127.0.0.1:${redis.port}" }`,
    );
    expect(code).toBe(3);
    expect(messagesOf(check('store.connection'), 'fault')).toEqual([
      `the password is wrong, or the user (WRONGPASS from 127.0.0.1:${redis.port})`,
    ]);
    for (const name of ['store.server', 'store.clock', 'store.rights']) {
      expect(check(name)).toMatchObject({ status: 'not_run', reason: 'it needs store.connection, which failed' });
    }
    expect(text).not.toContain(PASSWORD);
  });

  it.each([
    ['has', []],
    ['of a cluster has', ['--cluster-enabled', 'yes']],
  ])('%s no database of the number in store.url', async (_what, more) => {
    // By default a cluster node takes a port in the range of outgoing connections for its bus.
    const bus = more.length === 0 ? [] : ['--cluster-port', String(await freePort())];
    const redis = await started(RedisProcess.start({ args: () => ['--databases', '4', ...more, ...bus] }));
    const { code, check } = await examineStore(`{ type: redis, url: "redis://127.0.0.1:${redis.port}/4" }`);
    expect(code).toBe(2);
    expect(check('store.connection').findings).toMatchObject([
      {
        message: `it has no database 4 (SELECT refused by 127.0.0.1:${redis.port})`,
        remedy: expect.stringContaining('store.url'),
      },
    ]);
  });

  it('wants a password, and gets none', async () => {
    const redis = await started(RedisProcess.start({ args: () => ['--requirepass', 'another'] }));
    const { code, check } = await examineStore(`{ type: redis, url: "${redis.url}" }`);
    expect(code).toBe(3);
    expect(check('store.connection').findings).toMatchObject([
      {
        message: `it wants a password, and none is configured (NOAUTH from 127.0.0.1:${redis.port})`,
        remedy: 'give store.passwordFile, or the password in store.url',
      },
    ]);
  });

  it('speaks no TLS, although the URL begins with rediss', async () => {
    const { port } = await started(RedisProcess.start());
    const { code, check } = await examineStore(`{ type: redis, url: "rediss://127.0.0.1:${port}" }`);
    expect(code).toBe(2);
    expect(check('store.connection').findings).toMatchObject([
      {
        message: `no TLS is spoken there, although the settings of the store ask for it (127.0.0.1:${port})`,
        remedy: expect.stringContaining('see scheme and port in store.url') as string,
      },
    ]);
  });

  it('is not Redis', async () => {
    const server = await LoopbackServer.http((_request, response) => void response.end());
    closers.push(() => server.close());
    const { code, check } = await examineStore(`{ type: redis, url: "redis://127.0.0.1:${server.port}" }`);
    expect(code).toBe(2);
    expect(check('store.connection').findings).toMatchObject([
      {
        message: `what answers there is not Redis (127.0.0.1:${server.port})`,
        remedy: 'see host and port in store.url',
      },
    ]);
  });

  it('has a name without an address', async () => {
    const { check } = await examineStore('{ type: redis, url: "redis://no-such-store.invalid:6379" }');
    expect(check('store.connection').findings).toMatchObject([
      {
        message: 'its name has no address (ENOTFOUND for no-such-store.invalid:6379)',
        remedy: expect.stringContaining('see the host in store.url') as string,
      },
    ]);
  });

  it('is down, which may pass', async () => {
    const { code, check } = await examineStore(`{ type: redis, url: "redis://127.0.0.1:${await freePort()}" }`);
    expect(code).toBe(4);
    expect(messagesOf(check('store.connection'), 'fault').join()).toMatch(/^nothing listens there \(ECONNREFUSED to /);
  });

  it('has a clock that is not ours', async () => {
    const redis = await started(RedisProcess.start());
    const { clock } = examined;
    const ahead = 90_000;
    examined.clock = {
      now: () => (clock.now() + ahead) as ReturnType<typeof clock.now>,
      monotonicMs: () => clock.monotonicMs(),
      schedule: (delayMs, task) => clock.schedule(delayMs, task),
    };
    const { check } = await examineStore(`{ type: redis, url: "${redis.url}" }`);
    expect(messagesOf(check('store.clock'), 'warning')).toEqual([
      expect.stringMatching(/ (89|90)\d{3} ms behind ours$/),
    ]);
  });
});

interface Presented {
  readonly names?: string[];
  readonly notAfter?: Date;
}

interface OwnCertificate {
  readonly issuer: TestAuthority;
  readonly wish?: { readonly notAfter: Date };
  readonly faults: readonly RegExp[];
}

describeWith('redis-server', 'doctor: TLS to the store', () => {
  const authority = new TestAuthority();

  async function encrypted(presented: Presented = {}, ...more: readonly string[]): Promise<RedisProcess> {
    const { cert, key } = authority.issue({ names: ['127.0.0.1'], ...presented });
    return started(
      RedisProcess.start({
        tlsOnly: true,
        args: ({ port, dir }) => {
          writeFileSync(join(dir, 'cert.pem'), cert);
          writeFileSync(join(dir, 'key.pem'), key);
          const files = ['--tls-cert-file', join(dir, 'cert.pem'), '--tls-key-file', join(dir, 'key.pem')];
          writeFileSync(join(dir, 'ca.pem'), authority.cert);
          files.push('--tls-ca-cert-file', join(dir, 'ca.pem'));
          return ['--tls-port', String(port), '--tls-auth-clients', 'no', ...files, ...more];
        },
      }),
    );
  }

  const over = ({ port }: RedisProcess): string =>
    `{ type: redis, url: "rediss://127.0.0.1:${port}/0", tls: { caFile: ca.pem } }`;

  it('passes, and tells the end of the certificate', async () => {
    await examined.write('ca.pem', authority.cert);
    const { check } = await examineStore(over(await encrypted()));
    expect(messagesOf(check('store.server'), 'fact').join()).toContain('the certificate ends on 2049-01-01');
  });

  it('is missing in the settings: it says so, and where to look', async () => {
    const { port } = await encrypted();
    const { code, check } = await examineStore(`{ type: redis, url: "redis://127.0.0.1:${port}/0" }`);
    expect(check('store.connection').findings).toMatchObject([
      {
        message: expect.stringMatching(/^TLS is spoken there, although the settings of the store ask for none/),
        remedy: 'see scheme and port in store.url: a port with TLS wants rediss://',
      },
    ]);
    expect(code).toBe(2);
  });

  it.each([
    [
      'of another authority',
      { trusted: new TestAuthority('Another') },
      /^store\.tls\.caFile has to name the authority/,
    ],
    ['that has ended', { notAfter: new Date('2021-01-01T00:00:00Z') }, /^renew it on the server$/],
    ['for another name', { names: ['redis.elsewhere'] }, /^see the host in store\.url/],
  ])('fails for a certificate %s, and says what mends it', async (_what, given, remedy) => {
    const { trusted = authority, ...presented }: Presented & { readonly trusted?: TestAuthority } = given;
    await examined.write('ca.pem', trusted.cert);
    const { code, check } = await examineStore(over(await encrypted(presented)));
    expect(code).toBe(3);
    expect(check('store.connection').findings).toMatchObject([
      { message: expect.stringMatching(/certificate of 127\.0\.0\.1:\d+ /), remedy: expect.stringMatching(remedy) },
    ]);
  });

  const asking = (version: string): Promise<RedisProcess> =>
    encrypted({}, '--tls-auth-clients', 'yes', '--tls-protocols', version);

  it.each([
    ['TLSv1.3', 'Redis asks for a certificate of the broker', 'give store.tls.certFile and store.tls.keyFile'],
    [
      'TLSv1.2',
      'Redis refuses the TLS handshake',
      'without store.tls.certFile and store.tls.keyFile it most likely asks for a certificate of the broker; with them, compare versions and ciphers of TLS',
    ],
  ])('fails where the server asks for a certificate and gets none: %s', async (version, message, remedy) => {
    await examined.write('ca.pem', authority.cert);
    const redis = await asking(version);
    const { code, check } = await examineStore(over(redis));
    expect(check('store.connection').findings).toMatchObject([
      { message: `${message} (127.0.0.1:${redis.port})`, remedy },
    ]);
    expect(code).toBe(3);
  });

  it.each<[string, OwnCertificate]>([
    ['is taken', { issuer: authority, faults: [] }],
    [
      'is of an authority that the server does not know',
      {
        issuer: new TestAuthority('Another'),
        faults: [/^Redis does not take the certificate of the broker: it does not know its authority \(127/],
      },
    ],
    [
      'has ended',
      {
        issuer: authority,
        wish: { notAfter: new Date('2021-01-01T00:00:00Z') },
        faults: [/^Redis does not take the certificate of the broker: it has expired \(127/],
      },
    ],
  ])('shows a certificate of the broker that %s', async (_what, { issuer, wish = {}, faults }) => {
    const { cert, key } = issuer.issue({ names: ['session-broker'], ...wish });
    for (const [name, content] of [
      ['ca.pem', authority.cert],
      ['own.pem', cert],
      ['own.key', key],
    ] as const)
      await examined.write(name, content);
    const { port } = await asking('TLSv1.3');
    const tls = '{ caFile: ca.pem, certFile: own.pem, keyFile: own.key }';
    const { check } = await examineStore(`{ type: redis, url: "rediss://127.0.0.1:${port}/0", tls: ${tls} }`);
    expect(messagesOf(check('store.connection'), 'fault')).toEqual(
      faults.map((fault) => expect.stringMatching(fault) as string),
    );
  });

  it('fails where no authority is named, and says where to name it', async () => {
    const { port } = await encrypted();
    const { code, check } = await examineStore(`{ type: redis, url: "rediss://127.0.0.1:${port}/0" }`);
    expect(code).toBe(3);
    expect(check('store.connection').findings).toMatchObject([
      { remedy: 'store.tls.caFile has to name the authority that issued it; see docs/redis.md' },
    ]);
  });
});

describeWith('redis-server', 'doctor: the shape of the store', () => {
  it('warns of a sentinel that is not there', async () => {
    const { sentinels, name } = await started(startRedisSentinel());
    const addresses = [...sentinels.map(({ port }) => `"127.0.0.1:${port}"`), `"127.0.0.1:${await freePort()}"`];
    const { check } = await examineStore(`{ type: redis, sentinels: [${addresses.join(', ')}], name: ${name} }`);
    expect(check('store.connection').status).toBe('warned');
    expect(messagesOf(check('store.connection'), 'warning')).toEqual([expect.stringContaining('ECONNREFUSED')]);
    expect(check('store.rights').status).toBe('passed');
  });

  it('finds slots that nobody serves', async () => {
    const { nodes } = await started(startRedisCluster());
    const store = `{ type: redis, cluster: [${nodes.map(({ port }) => `"127.0.0.1:${port}"`).join(', ')}] }`;
    expect(messagesOf((await examineStore(store)).check('store.connection'), 'warning')).toEqual([
      '3 primaries have no replica',
    ]);
    for (const node of nodes) node.cli('cluster', 'delslots', '0');
    const { code, check } = await examineStore(store);
    expect(messagesOf(check('store.connection'), 'fault')).toEqual(['no node serves 1 of the slots']);
    expect(code).toBe(4);
  });
});
