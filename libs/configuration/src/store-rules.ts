import type { BrokerRule } from './broker-rule.js';
import type { Loose } from './check-values.js';
import type { Fault } from './fault.js';
import type { StoreSettings } from './settings/store-settings.js';

type Store = Loose<StoreSettings>;

/** The ways to say where Redis is; exactly one of them is given. */
function addressesOf({ url, sentinels, cluster }: Store): string[] {
  return Object.entries({ url: url !== undefined, sentinels: sentinels?.length, cluster: cluster?.length })
    .filter(([, isGiven]) => Boolean(isGiven))
    .map(([setting]) => setting);
}

const REDIS_ONLY = ['name', 'username', 'passwordFile', 'tls'] as const;

function memoryNeedsNothing(store: Store): Fault[] {
  const given = [...addressesOf(store), ...REDIS_ONLY.filter((setting) => store[setting] !== undefined)];
  return given.map((setting) => ({
    path: `store.${setting}`,
    problem: 'has no effect with store.type memory; remove it, or set store.type to redis',
  }));
}

function redisHasOneAddress(store: Store): Fault[] {
  const given = addressesOf(store);
  if (given.length === 1) return [];
  if (given.length === 0) {
    return [
      { path: 'store.url', problem: 'is missing: store.type redis needs url, or sentinels with name, or cluster' },
    ];
  }
  return given.slice(1).map((setting) => ({
    path: `store.${setting}`,
    problem: `stands beside store.${given[0]}; give exactly one of url, sentinels and cluster`,
  }));
}

function sentinelsHaveName({ sentinels, name }: Store): Fault[] {
  const hasSentinels = (sentinels?.length ?? 0) > 0;
  if (hasSentinels === (name !== undefined)) return [];
  const problem = hasSentinels
    ? 'is missing: it is the name under which the sentinels watch the primary'
    : 'has no effect without store.sentinels; remove it';
  return [{ path: 'store.name', problem }];
}

/** One place for each credential, and none that would be sent in clear without anybody having said so. */
function credentialsFit({ url, username, passwordFile, tls }: Store): Fault[] {
  const faults: Fault[] = [];
  if (username !== undefined && passwordFile === undefined) {
    faults.push({ path: 'store.passwordFile', problem: 'is missing: store.username needs it' });
  }
  if (url === undefined) return faults;
  if (/^rediss?:\/\/[^/]*@/.test(url) && (username !== undefined || passwordFile !== undefined)) {
    faults.push({
      path: 'store.url',
      problem: 'has a user or password beside username or passwordFile; remove it there',
    });
  }
  if (tls !== undefined && url.startsWith('redis:')) {
    faults.push({ path: 'store.tls', problem: 'has no effect on a redis: URL; use rediss:, or remove it' });
  }
  return faults;
}

function tlsIdentityIsWhole({ tls }: Store): Fault[] {
  if ((tls?.certFile === undefined) === (tls?.keyFile === undefined)) return [];
  const missing = tls?.certFile === undefined ? 'certFile' : 'keyFile';
  return [{ path: `store.tls.${missing}`, problem: 'is missing: certFile and keyFile belong together' }];
}

const redisRules = [redisHasOneAddress, sentinelsHaveName, credentialsFit, tlsIdentityIsWhole] as const;

/** The rules between the settings of the store. */
export const storeRule: BrokerRule = ({ store }) => {
  if (store?.type === 'memory') return memoryNeedsNothing(store);
  if (store?.type === 'redis') return redisRules.flatMap((rule) => rule(store));
  return [];
};
