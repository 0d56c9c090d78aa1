import type { Instant } from '#libs/clock';
import type { ServerFacts } from '#libs/store';
import { lifeOf } from '../certificate-life.js';
import { type Check, fact, fault, type Finding, looked, warning } from '../check.js';
import type { StoreVisit } from '../store-visit.js';

const OLDEST_MAJOR = 7;

/** Version, role, eviction policy and certificate of every server that accepts commands. */
export function storeServerCheck(visit: StoreVisit, now: () => Instant): Check {
  return {
    name: 'store.server',
    needs: ['store.connection'],
    limitMs: 5_000,
    run: async () => {
      const servers = await visit.servers();
      const facts = servers.map(({ address, version, role, evictionPolicy }) => ({
        ...{ address, version, role, evictionPolicy },
      }));
      return looked(
        servers.flatMap((server) => findingsOn(server, now())),
        { servers: facts },
      );
    },
  };
}

function findingsOn(server: ServerFacts, now: Instant): readonly Finding[] {
  const { address, certificateEndsAt } = server;
  return [
    versionFinding(server),
    ...roleFindings(server),
    policyFinding(server),
    ...(certificateEndsAt === undefined ? [] : [lifeOf(`${address}: the certificate`, certificateEndsAt, now)]),
  ];
}

const NEEDS_INFO = 'grant +info; see docs/redis.md';

function versionFinding({ address, version }: ServerFacts): Finding {
  if (version === undefined) return fault('refused', `${address} does not tell its version`, NEEDS_INFO);
  return Number(version.split('.')[0]) < OLDEST_MAJOR
    ? fault('invalidInput', `${address} is Redis ${version}`, `run Redis ${OLDEST_MAJOR} or newer`)
    : fact(`${address} is Redis ${version}`);
}

function roleFindings({ address, role }: ServerFacts): readonly Finding[] {
  return role === undefined || role === 'master'
    ? []
    : [fault('invalidInput', `${address} is a replica, which takes no writes`, 'give the address of the primary')];
}

function policyFinding({ address, evictionPolicy }: ServerFacts): Finding {
  if (evictionPolicy === undefined) return warning(`${address} does not tell its eviction policy`, NEEDS_INFO);
  return evictionPolicy === 'noeviction'
    ? fact(`${address} evicts nothing`)
    : fault(
        'invalidInput',
        `${address} evicts keys when it is full (${evictionPolicy})`,
        'set maxmemory-policy noeviction: an evicted lease or budget permits a create call too many',
      );
}
