import type { Clock } from '#libs/clock';
import type { StoreConfiguration } from '#libs/configuration';
import { storeRefusal } from '#libs/errors';
import { SKEW_TOLERANCE_MS } from '#libs/session';
import { grantingLine, NO_DATABASE, redisConnection, RedisInspection, remedyOfRefusal } from '#libs/store';
import { type RedisConnection, type ServerFacts, StoreInspectionFailure } from '#libs/store';
import { lifeOf } from './certificates-check.js';
import { type Check, fact, fault, type Finding, looked, some, type Verdict, warning } from './check.js';

type Redis = Extract<StoreConfiguration, { type: 'redis' }>;

/** One look at the store, shared by its checks: it connects once and asks for the facts once. */
export class StoreVisit {
  readonly #store: Redis;
  readonly #clock: Clock;
  #inspection: Promise<RedisInspection> | undefined;
  #servers: Promise<readonly ServerFacts[]> | undefined;

  constructor(store: Redis, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  get keyPrefix(): string {
    return this.#store.keyPrefix;
  }

  get connection(): RedisConnection {
    return redisConnection(this.#store);
  }

  /** @throws StoreInspectionFailure */
  inspection(): Promise<RedisInspection> {
    const { keyPrefix, connection } = this;
    this.#inspection ??= RedisInspection.open({ connection, keyPrefix, clock: this.#clock });
    return this.#inspection;
  }

  servers(): Promise<readonly ServerFacts[]> {
    this.#servers ??= this.inspection().then((inspection) => inspection.servers());
    return this.#servers;
  }

  /** Also ends whatever is still under way. Idempotent. */
  async close(): Promise<void> {
    const [opened] = await Promise.allSettled([this.#inspection]);
    if (opened.status === 'fulfilled') opened.value?.close();
  }
}

/** The checks of a store on Redis. */
export function storeChecks(visit: StoreVisit, clock: Clock): readonly Check[] {
  const common = { needs: ['store.connection'], limitMs: 15_000 };
  return [
    { name: 'store.connection', limitMs: common.limitMs, run: () => connectionLook(visit) },
    { ...common, name: 'store.server', run: () => serverLook(visit, clock) },
    { ...common, name: 'store.clock', run: () => clockLook(visit) },
    // The last, because after it the connections can do nothing else.
    { ...common, name: 'store.rights', run: () => rightsLook(visit) },
  ];
}

/** Whether the store lets the broker in. */
async function connectionLook(visit: StoreVisit): Promise<Verdict> {
  try {
    const names = (await visit.servers()).map(({ address }) => address);
    return looked([fact(`${visit.connection.kind}: ${some(names)}`)]);
  } catch (error) {
    if (!(error instanceof StoreInspectionFailure)) throw error;
    return looked([noConnection(error, visit)]);
  }
}

/** Nothing was refused: the configuration points to the wrong port, or asks for something that it does not speak. */
const OF_THE_ADDRESS: ReadonlySet<string> = new Set([
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'what answers is not Redis',
  NO_DATABASE,
]);

function noConnection({ code, mark, detail = '' }: StoreInspectionFailure, visit: StoreVisit): Finding {
  if (OF_THE_ADDRESS.has(mark))
    return fault('invalidInput', detail, 'see scheme, host, port and database in store.url');
  if (mark === 'NOPERM') return fault('refused', detail, grantOf(visit));
  const known = remedyOfRefusal(mark) ?? storeRefusal(mark)?.remedy;
  return code === 'store_refused'
    ? fault('refused', detail, known ?? 'compare user, password and TLS settings of the store; see docs/redis.md')
    : fault(
        'tryLater',
        detail,
        known ??
          'see whether Redis runs, and whether this machine reaches it; store.url begins with rediss:// only if the port speaks TLS',
      );
}

const grantOf = ({ connection, keyPrefix }: StoreVisit): string =>
  `run on the server: ${grantingLine(connection, keyPrefix)}`;

/** Version, role, eviction policy and certificate of every server that accepts commands. */
async function serverLook(visit: StoreVisit, clock: Clock): Promise<Verdict> {
  const servers = await visit.servers();
  const facts = servers.map(({ address, version, role, evictionPolicy }) => ({
    ...{ address, version, role, evictionPolicy },
  }));
  const findings = servers.flatMap((server) => {
    const { address, role, certificateEndsAt: endsAt } = server;
    const replica = `${address} is a replica, which takes no writes`;
    return [
      versionFinding(server),
      ...(role === undefined || role === 'master'
        ? []
        : [fault('invalidInput', replica, 'give the address of the primary')]),
      policyFinding(server),
      ...(endsAt === undefined ? [] : [lifeOf(`${address}: the certificate`, endsAt, clock.now())]),
    ];
  });
  return looked(findings, { servers: facts });
}

const OLDEST_MAJOR = 7;
const NEEDS_INFO = 'grant +info; see docs/redis.md';

function versionFinding({ address, version }: ServerFacts): Finding {
  if (version === undefined) return fault('refused', `${address} does not tell its version`, NEEDS_INFO);
  return Number(version.split('.')[0]) < OLDEST_MAJOR
    ? fault('invalidInput', `${address} is Redis ${version}`, `run Redis ${OLDEST_MAJOR} or newer`)
    : fact(`${address} is Redis ${version}`);
}

function policyFinding({ address, evictionPolicy }: ServerFacts): Finding {
  if (evictionPolicy === undefined) return warning(`${address} does not tell its eviction policy`, NEEDS_INFO);
  if (evictionPolicy === 'noeviction') return fact(`${address} evicts nothing`);
  const remedy = 'set maxmemory-policy noeviction: an evicted lease or budget permits a create call too many';
  return fault('invalidInput', `${address} evicts keys when it is full (${evictionPolicy})`, remedy);
}

/** Due times and leases follow the store's clock, expiry follows ours: the two should agree. */
async function clockLook(visit: StoreVisit): Promise<Verdict> {
  const findings = (await visit.servers()).flatMap(({ address, clock }) => {
    if (clock === undefined) return [];
    const surelyOffMs = Math.max(clock.leastMs, -clock.mostMs, 0);
    if (surelyOffMs <= SKEW_TOLERANCE_MS) return [fact(`the clock of ${address} agrees with ours`)];
    const off = `${Math.round(surelyOffMs)} ms ${clock.leastMs > 0 ? 'ahead of' : 'behind'} ours`;
    return [warning(`the clock of ${address} is ${off}`, 'have both machines set by NTP')];
  });
  return findings.length === 0
    ? { kind: 'not_run', reason: 'the store does not tell its time to this user (+time)' }
    : looked(findings);
}

/** Whether the broker's user may do everything that the broker does, on the broker's own keys. */
async function rightsLook(visit: StoreVisit): Promise<Verdict> {
  const refusal = await (await visit.inspection()).refusal();
  if (refusal === undefined) return looked([fact('the broker may do all that it needs')]);
  const { reason } = refusal;
  if (reason === 'NOPERM') return looked([fault('refused', "the store's user lacks a right (NOPERM)", grantOf(visit))]);
  const remedy = storeRefusal(reason)?.remedy ?? 'see docs/redis.md';
  return looked([fault('tryLater', `the store refuses what the broker needs (${reason})`, remedy)]);
}
