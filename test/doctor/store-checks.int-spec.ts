import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  describeWith,
  endedAfterAll,
  endedAfterEach,
  freePort,
  LoopbackServer,
  RedisProcess,
  TestAuthority,
} from '#libs/testing';
import { Examined, type Examination, messagesOf } from './examined.js';

const PASSWORD = 'canary-password-of-the-store';
const PAGE = readFileSync(join(import.meta.dirname, '../../docs/redis.md'), 'utf8');
const [, DOCUMENTED = ''] = /^ACL SETUSER .* -@all (\+.*)$/m.exec(PAGE) ?? [];

let examined: Examined;
let gateway: number;
const servers = endedAfterAll();
const started = endedAfterEach();

beforeEach(async () => {
  examined = started.add(await Examined.create(), (it) => it.remove());
  gateway = await freePort();
});

/** The exit code is that of the store only if nothing worse is wrong; the gateway is down in all of these. */
async function examineStore(store: string): Promise<Examination> {
  await examined.configure([{ gatewayUrl: `http://127.0.0.1:${gateway}` }], store);
  return examined.doctor();
}

// What is found by played looks, and what is said of each: apps/cli/src/doctor/checks/store-checks.spec.ts.
describeWith('redis-server', 'doctor: a store on Redis', () => {
  let redis: RedisProcess;
  beforeAll(async () => {
    redis = servers.add(await RedisProcess.start({ args: () => ['--databases', '4'] }), (it) => it.stop());
  });

  const asUser = (): string =>
    `{ type: redis, url: "redis://broker:${PASSWORD}@127.0.0.1:${redis.port}/0", keyPrefix: broker }`;
  const setUser = (...rights: readonly string[]): void =>
    void redis.cli('ACL', 'SETUSER', 'broker', 'reset', 'on', `>${PASSWORD}`, '-@all', ...rights);

  it('passes with the documented user, and shows no password', async () => {
    setUser('~broker:*', '&broker:*', ...DOCUMENTED.split(' '));
    const { check, text } = await examineStore(asUser());
    for (const name of ['store.connection', 'store.server', 'store.clock', 'store.rights']) {
      expect(check(name)).toMatchObject({ name, status: 'passed' });
    }
    expect(text).not.toContain(PASSWORD);
  });

  it('has a user without any right, which one line mends that takes nothing away and is that of the page', async () => {
    setUser('+hello', '+auth', '+ping', '+info', '+select');
    const { check, code, text } = await examineStore(asUser());
    expect(code).toBe(3);
    expect(check('store.rights').facts?.['missing']).toHaveLength(18);
    expect(check('store.clock').status).toBe('not_run');
    expect(text).not.toContain(PASSWORD);
    const remedies = new Set(check('store.rights').findings.flatMap(({ remedy }) => remedy ?? []));
    const line = `ACL SETUSER broker ~broker:* &broker:* ${DOCUMENTED}`;
    expect([...remedies]).toEqual([`run on the server: ${line}`]);
    redis.cli(...line.split(' '));
    expect((await examineStore(asUser())).check('store.rights').status).toBe('passed');
    expect((await examined.cli('doctor', examined.config)).text).not.toContain('ACL SETUSER');
  });

  it('refuses the password, and everything after is said not to have run', async () => {
    const url = `redis://broker:another@127.0.0.1:${redis.port}`;
    setUser();
    const { code, check, text } = await examineStore(`{ type: redis, url: "${url}" }`);
    expect([code, check('store.connection').status]).toEqual([3, 'failed']);
    for (const name of ['store.server', 'store.clock', 'store.rights']) {
      expect(check(name)).toMatchObject({ status: 'not_run', reason: 'it needs store.connection, which failed' });
    }
    expect(text).not.toContain('another@');
  });

  it('is not asked for when it is in memory', async () => {
    expect((await examineStore('{ type: memory }')).check('store.connection').status).toBe('not_applicable');
  });

  it.each<[string, () => Promise<string> | string, RegExp]>([
    ['has no such database', () => `redis://127.0.0.1:${redis.port}/4`, /^it has no database 4 \(SELECT refused by /],
    ['speaks no TLS', () => `rediss://127.0.0.1:${redis.port}`, /^no TLS is spoken there/],
    ['is not Redis', async () => `redis://127.0.0.1:${await webServer()}`, /^what answers there is not Redis/],
    ['is down', async () => `redis://127.0.0.1:${await freePort()}`, /^nothing listens there \(ECONNREFUSED to /],
  ])('is told when it %s', async (_what, urlOf, message) => {
    const { check } = await examineStore(`{ type: redis, url: "${await urlOf()}" }`);
    expect(messagesOf(check('store.connection'), 'fault')).toEqual([expect.stringMatching(message)]);
  });

  const webServer = async (): Promise<number> =>
    started.add(await LoopbackServer.http((_request, response) => void response.end()), (it) => it.close()).port;
});

interface OwnCertificate {
  readonly issuer: TestAuthority;
  readonly wish?: { readonly notAfter: Date };
  readonly fault?: RegExp;
}

describeWith('redis-server', 'doctor: TLS to a store that asks for a certificate of the broker', () => {
  const authority = new TestAuthority();
  const files: Readonly<Record<string, string>> = {
    ...authority.issue({ names: ['127.0.0.1'] }),
    ca: authority.cert,
  };

  /** A port for each version of TLS. */
  const asking = async (version: string): Promise<number> => {
    const starting = RedisProcess.start({
      tlsOnly: true,
      args: ({ port, dir }) => {
        const path = (name: string): string => {
          writeFileSync(join(dir, name), files[name] ?? '');
          return join(dir, name);
        };
        return [
          ...['--tls-port', String(port), '--tls-auth-clients', 'yes', '--tls-protocols', version],
          ...['--tls-cert-file', path('cert'), '--tls-key-file', path('key'), '--tls-ca-cert-file', path('ca')],
        ];
      },
    });
    return servers.add(await starting, (it) => it.stop()).port;
  };
  let ports: Readonly<Record<'TLSv1.2' | 'TLSv1.3', number>>;
  beforeAll(async () => {
    ports = { 'TLSv1.2': await asking('TLSv1.2'), 'TLSv1.3': await asking('TLSv1.3') };
  });
  beforeEach(() => examined.write('ca.pem', authority.cert));

  const over = (port: number, tls: string, scheme = 'rediss'): Promise<Examination> =>
    examineStore(`{ type: redis, url: "${scheme}://127.0.0.1:${port}/0"${tls} }`);

  it('is missing in the settings: it says so, and where to look', async () => {
    const { code, check } = await over(ports['TLSv1.3'], '', 'redis');
    expect(messagesOf(check('store.connection'), 'fault')).toEqual([
      expect.stringMatching(/^TLS is spoken there, although the settings of the store ask for none/),
    ]);
    expect(code).toBe(2);
  });

  it.each([
    ['TLSv1.3', 'Redis asks for a certificate of the broker', 'give store.tls.certFile and store.tls.keyFile'],
    ['TLSv1.2', 'Redis refuses the TLS handshake', 'without store.tls.certFile and store.tls.keyFile it most likely'],
  ] as const)('fails where it gets none: %s', async (version, message, remedy) => {
    const { code, check } = await over(ports[version], ', tls: { caFile: ca.pem }');
    expect(check('store.connection').findings).toMatchObject([
      { message: `${message} (127.0.0.1:${ports[version]})`, remedy: expect.stringContaining(remedy) as string },
    ]);
    expect(code).toBe(3);
  });

  it.each<[string, OwnCertificate]>([
    ['is taken', { issuer: authority }],
    [
      'is of an authority that the server does not know',
      {
        issuer: new TestAuthority('Another'),
        fault: /^Redis does not take the certificate of the broker: it does not know its authority \(127/,
      },
    ],
    [
      'has ended',
      {
        issuer: authority,
        wish: { notAfter: new Date('2021-01-01T00:00:00Z') },
        fault: /^Redis does not take the certificate of the broker: it has expired \(127/,
      },
    ],
  ])('is shown one that %s', async (_what, { issuer, wish = {}, fault }) => {
    const { cert, key } = issuer.issue({ names: ['session-broker'], ...wish });
    await examined.write('own.pem', cert);
    await examined.write('own.key', key);
    const { check } = await over(ports['TLSv1.3'], ', tls: { caFile: ca.pem, certFile: own.pem, keyFile: own.key }');
    const faults = fault === undefined ? [] : [expect.stringMatching(fault)];
    expect(messagesOf(check('store.connection'), 'fault')).toEqual(faults);
    if (fault !== undefined) return;
    expect(messagesOf(check('store.server'), 'fact').join()).toContain('the certificate ends on 2049-01-01');
  });

  it('fails where no authority is named, and says where to name it', async () => {
    const { code, check } = await over(ports['TLSv1.3'], '');
    expect(code).toBe(3);
    expect(check('store.connection').findings).toMatchObject([
      { remedy: 'store.tls.caFile has to name the authority that issued it; see docs/redis.md' },
    ]);
  });
});
