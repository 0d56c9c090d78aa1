import type { Loose } from './check-settings.js';
import { faultIf, type Rule } from './rule.js';
import type { BrokerSettings } from './settings/broker-settings.js';
import type { StoreSettings } from './settings/store-settings.js';

/** The ways to say where Redis is; exactly one must be given. */
function addressesOf({ url, sentinels, cluster }: Loose<StoreSettings>): string[] {
  return Object.entries({ url: url !== undefined, sentinels: sentinels?.length, cluster: cluster?.length })
    .filter(([, isGiven]) => Boolean(isGiven))
    .map(([setting]) => setting);
}

const REDIS_ONLY = ['name', 'username', 'passwordFile', 'tls'] as const;

const memoryNeedsNothing: Rule<StoreSettings> = (store) =>
  [...addressesOf(store), ...REDIS_ONLY.filter((setting) => store[setting] !== undefined)].map((setting) => ({
    path: `store.${setting}`,
    problem: 'has no effect with store.type memory; remove it, or set store.type to redis',
  }));

const redisRules: Readonly<Record<string, Rule<StoreSettings>>> = {
  redisHasOneAddress: (store) => {
    const [first, ...others] = addressesOf(store);
    return [
      ...faultIf(
        first === undefined,
        'store.url',
        'is missing: store.type redis needs url, or sentinels with name, or cluster',
      ),
      ...others.map((setting) => ({
        path: `store.${setting}`,
        problem: `is given as well as store.${first}; give only one of url, sentinels and cluster`,
      })),
    ];
  },
  sentinelsHaveName: ({ sentinels = [], name }) =>
    faultIf(
      sentinels.length > 0 !== (name !== undefined),
      'store.name',
      sentinels.length > 0
        ? 'is missing: it is the name under which the sentinels watch the primary'
        : 'has no effect without store.sentinels; remove it',
    ),
  /** One place for each credential, and none is sent in the clear unless the configuration says so. */
  credentialsFit: ({ url = '', username, passwordFile, tls }) => [
    ...faultIf(
      username !== undefined && passwordFile === undefined,
      'store.passwordFile',
      'is missing: store.username needs it',
    ),
    ...faultIf(
      /^rediss?:\/\/[^/]*@/.test(url) && (username !== undefined || passwordFile !== undefined),
      'store.url',
      'has a user or password as well as username or passwordFile; remove it from the URL',
    ),
    ...faultIf(
      tls !== undefined && url.startsWith('redis:'),
      'store.tls',
      'has no effect on a redis: URL; use rediss:, or remove it',
    ),
  ],
  tlsIdentityIsWhole: ({ tls: { certFile, keyFile } = {} }) =>
    faultIf(
      (certFile === undefined) !== (keyFile === undefined),
      `store.tls.${certFile === undefined ? 'certFile' : 'keyFile'}`,
      'is missing: certFile and keyFile belong together',
    ),
};

/** The rules between the settings of the store. */
export const storeRule: Rule<BrokerSettings> = ({ store }) => {
  if (store?.type === 'memory') return memoryNeedsNothing(store);
  return store?.type === 'redis' ? Object.values(redisRules).flatMap((rule) => rule(store)) : [];
};
