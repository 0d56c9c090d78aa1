import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeWith, endedAfterAll, endedAfterEach, freePort, RedisProcess } from '#libs/testing';
import { Examined, type Examination } from './examined.js';

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

// What is found by played looks, and what is said of each: apps/cli/src/doctor/store-checks.spec.ts.
describeWith('redis-server', 'doctor: a store on Redis', () => {
  let redis: RedisProcess;
  beforeAll(async () => {
    redis = servers.add(await RedisProcess.start(), (it) => it.stop());
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
});
