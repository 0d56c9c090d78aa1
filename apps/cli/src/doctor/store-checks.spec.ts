import { instantFromEpochMs } from '#libs/clock';
import { grantingLine, type ServerFacts, StoreInspectionFailure } from '#libs/store';
import { FakeClock } from '#libs/testing';
import type { Finding, Verdict } from './check.js';
import { storeChecks, type StoreVisit } from './store-checks.js';

const clock = new FakeClock();
const PLACE = '127.0.0.1:6379';
const connection = {
  kind: 'single',
  address: { host: '127.0.0.1', port: 6379 },
  database: 0,
  credentials: { username: 'broker', password: 'canary' },
} as const;
const LINE = grantingLine(connection, 'broker');

interface Played {
  readonly server?: Partial<ServerFacts>;
  readonly failure?: StoreInspectionFailure;
  readonly refusal?: string;
}

/** A look at a store that finds this. */
function visit({ server = {}, failure, refusal }: Played): StoreVisit {
  const facts = { address: PLACE, version: '7.4.1', role: 'master', evictionPolicy: 'noeviction', ...server };
  const refused = refusal === undefined ? undefined : { kind: 'refuses', reason: refusal };
  const looks = {
    keyPrefix: 'broker',
    connection,
    inspection: async () => ({ refusal: async () => refused }),
    servers: async () => {
      if (failure !== undefined) throw failure;
      return [facts];
    },
  };
  return looks as unknown as StoreVisit;
}

type Name = 'connection' | 'server' | 'clock' | 'rights';

function look(name: Name, played: Played): Promise<Verdict> {
  const check = storeChecks(visit(played), clock).find((each) => each.name === `store.${name}`);
  if (check === undefined) throw new Error(name);
  return check.run(new AbortController().signal);
}

async function findingsOf(name: Name, played: Played): Promise<readonly Finding[]> {
  const verdict = await look(name, played);
  if (verdict.kind !== 'looked') throw new Error(`${name}: ${verdict.reason}`);
  return verdict.findings;
}

/** What is worth a look, or worse. */
const troubleIn = async (name: Name, played: Played): Promise<readonly Finding[]> =>
  (await findingsOf(name, played)).filter(({ level }) => level !== 'fact');

const refusedBy = (message: string): StoreInspectionFailure =>
  new StoreInspectionFailure(PLACE, Object.assign(new Error(message), { name: 'ReplyError' }));
const brokenBy = (code: string): StoreInspectionFailure =>
  new StoreInspectionFailure(PLACE, Object.assign(new Error('x'), { code }));

describe('a store that does not let the broker in', () => {
  const table: Readonly<Record<string, readonly [StoreInspectionFailure, string, RegExp, string]>> = {
    'takes another password': [
      refusedBy('WRONGPASS invalid username-password pair'),
      'refused',
      /^it does not take our password, or our user \(WRONGPASS from 127/,
      'Compare store.username and store.passwordFile',
    ],
    'lets the user do nothing': [refusedBy('NOPERM'), 'refused', /NOPERM/, LINE],
    'has no database of that number': [
      refusedBy('ERR DB index is out of range'),
      'invalidInput',
      /^it has no database of that number \(SELECT refused by 127/,
      'see scheme, host, port and database in store.url',
    ],
    'speaks no TLS': [
      brokenBy('ERR_SSL_WRONG_VERSION_NUMBER'),
      'invalidInput',
      /^the port speaks no TLS/,
      'see scheme, host, port and database in store.url',
    ],
    'is not Redis': [
      new StoreInspectionFailure(PLACE, new Error('Unknown RESP type "H"')),
      'invalidInput',
      /^127.*: what answers is not Redis$/,
      'see scheme, host, port and database in store.url',
    ],
    'hangs up, as a port with TLS does': [
      new StoreInspectionFailure(PLACE, new Error('Connection is closed.')),
      'tryLater',
      /the connection was closed/,
      'store.url begins with rediss:// only if the port speaks TLS',
    ],
    'is down': [
      brokenBy('ECONNREFUSED'),
      'tryLater',
      /^nothing listens there \(ECONNREFUSED to 127/,
      'see whether Redis runs',
    ],
    'shows a certificate of another authority': [
      brokenBy('SELF_SIGNED_CERT_IN_CHAIN'),
      'refused',
      /^the certificate of 127\.0\.0\.1:6379 is not trusted/,
      'store.tls.caFile has to name the authority',
    ],
  };

  it.each(Object.entries(table))('%s', async (_name, [failure, faultClass, message, remedy]) => {
    expect(await troubleIn('connection', { failure })).toEqual([
      {
        level: 'fault',
        faultClass,
        message: expect.stringMatching(message) as string,
        remedy: expect.stringContaining(remedy) as string,
      },
    ]);
  });
});

describe('a server of the store', () => {
  const untold = { version: undefined, evictionPolicy: undefined } as unknown as Partial<ServerFacts>;
  const endsAt = instantFromEpochMs(clock.now() + 90.5 * 86_400_000);

  it.each<[string, Partial<ServerFacts>, readonly string[]]>([
    ['is as it should be', { certificateEndsAt: endsAt }, []],
    ['is too old', { version: '6.2.14' }, [`${PLACE} is Redis 6.2.14`]],
    ['is a replica', { role: 'slave' }, [`${PLACE} is a replica, which takes no writes`]],
    ['evicts keys', { evictionPolicy: 'allkeys-lru' }, [`${PLACE} evicts keys when it is full (allkeys-lru)`]],
    ['tells nothing', untold, [`${PLACE} does not tell its version`, `${PLACE} does not tell its eviction policy`]],
    [
      'has a certificate that ends soon',
      { certificateEndsAt: instantFromEpochMs(clock.now() + 5.5 * 86_400_000) },
      [`${PLACE}: the certificate ends on 2026-01-06, in 5 days`],
    ],
  ])('%s', async (_what, server, expected) => {
    const trouble = await troubleIn('server', { server });
    expect(trouble.map(({ message }) => message)).toEqual(expected);
  });

  it.each([
    [{ leastMs: 2_001, mostMs: 2_050 }, [`the clock of ${PLACE} is 2001 ms ahead of ours`]],
    [{ leastMs: -90_050, mostMs: -90_000 }, [`the clock of ${PLACE} is 90000 ms behind ours`]],
    [{ leastMs: -30, mostMs: 2_000 }, []],
  ])('has a clock that is this far from ours: %j', async (difference, expected) => {
    const trouble = await troubleIn('clock', { server: { clock: difference } });
    expect(trouble.map(({ message }) => message)).toEqual(expected);
  });

  it('is not known to agree with our clock when it does not tell its time', async () => {
    expect(await look('clock', {})).toMatchObject({ kind: 'not_run' });
  });
});

describe('the rights of the store’s user', () => {
  it.each([
    ['NOPERM', 'refused', 'run on the server: ACL SETUSER broker ~broker:* &broker:* +hello '],
    ['OOM', 'tryLater', 'Raise its maxmemory, or free memory'],
    ['UNKNOWN', 'tryLater', 'see docs/redis.md'],
  ])('do not suffice, or are of no use: %s', async (refusal, faultClass, remedy) => {
    expect(await troubleIn('rights', { refusal })).toEqual([
      {
        level: 'fault',
        faultClass,
        message: expect.stringContaining(`(${refusal})`) as string,
        remedy: expect.stringContaining(remedy) as string,
      },
    ]);
    expect(await troubleIn('rights', {})).toEqual([]);
  });
});
