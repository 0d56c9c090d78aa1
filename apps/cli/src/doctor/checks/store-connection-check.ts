import { NO_DATABASE, remedyOfRefusal, StoreInspectionFailure, type StoreShape } from '#libs/store';
import { type Check, fact, fault, type Finding, looked, some, warning } from '../check.js';
import type { StoreVisit } from '../store-visit.js';

/** Whether the store lets the broker in, and whether the servers behind it are complete. */
export function storeConnectionCheck(visit: StoreVisit): Check {
  return {
    name: 'store.connection',
    needs: ['configuration'],
    limitMs: 15_000,
    run: async (signal) => {
      try {
        const { shape } = await visit.inspection();
        const names = (await visit.servers()).map(({ address }) => address);
        return looked([fact(`${shape.kind}: ${some(names)}`), ...shapeFindings(shape)]);
      } catch (error) {
        if (!(error instanceof StoreInspectionFailure)) throw error;
        return looked([(await visit.wantsTls(error, signal)) ? tlsSpoken(error) : failed(error)]);
      }
    },
  };
}

/** OpenSSL refuses our own certificate before anything is sent, because it does not match the key. */
const NO_PAIR = 'ERR_OSSL_X509_KEY_VALUES_MISMATCH';

const REMEDIES: Readonly<Record<string, string>> = {
  ERR_SSL_WRONG_VERSION_NUMBER: 'see scheme and port in store.url: rediss:// and store.tls are for a port with TLS',
  'the connection was closed': 'see scheme and port in store.url: a port with TLS wants rediss://',
  'what answers is not Redis': 'see host and port in store.url',
  ENOTFOUND: 'see the host in store.url, and which name server this machine asks',
  WRONGPASS: 'compare store.username and store.passwordFile, or what store.url has of them, with the server',
  NOAUTH: 'give store.passwordFile, or the password in store.url',
  DENIED: 'give the server a user or a password, and name it in store; see docs/redis.md',
  CERT_HAS_EXPIRED: 'renew it on the server',
  CERT_NOT_YET_VALID: 'compare the clocks of this machine and of the server',
  ERR_TLS_CERT_ALTNAME_INVALID: 'see the host in store.url, or give the server a certificate for that name',
};

function remedyFor(mark: string): string | undefined {
  if (NO_DATABASE.test(mark)) return 'correct the number at the end of store.url, or the server: a cluster has 0 alone';
  return REMEDIES[mark] ?? remedyOfRefusal(mark);
}

function tlsSpoken({ place }: StoreInspectionFailure): Finding {
  const message = `TLS is spoken there, although the settings of the store ask for none (${place})`;
  return fault('invalidInput', message, 'see scheme and port in store.url: a port with TLS wants rediss://');
}

/**
 * Nothing was refused: the configuration points to the wrong port, or asks the port for something that it does not
 * speak.
 */
const OF_THE_ADDRESS: ReadonlySet<string> = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'what answers is not Redis']);

function failed({ kind, mark, detail = '' }: StoreInspectionFailure): Finding {
  if (mark === NO_PAIR)
    return fault(
      'invalidInput',
      'the certificate of store.tls.certFile is not that of the key in store.tls.keyFile',
      'give the two of one pair',
    );
  const remedy = remedyFor(mark);
  if (OF_THE_ADDRESS.has(mark) || NO_DATABASE.test(mark))
    return fault('invalidInput', detail, remedy ?? 'see store.url');
  return kind === 'refused'
    ? fault('refused', detail, remedy ?? 'compare user, password and TLS settings of the store; see docs/redis.md')
    : fault('tryLater', detail, remedy ?? 'see whether Redis runs, and whether this machine may reach it');
}

function shapeFindings(shape: StoreShape): readonly Finding[] {
  switch (shape.kind) {
    case 'single':
      return [];
    case 'sentinel':
      return sentinelFindings(shape.sentinels);
    case 'cluster':
      return clusterFindings(shape);
  }
}

function sentinelFindings(sentinels: Extract<StoreShape, { kind: 'sentinel' }>['sentinels']): readonly Finding[] {
  const primaries = new Set(sentinels.flatMap(({ primary }) => (primary ? [`${primary.host}:${primary.port}`] : [])));
  return [
    ...sentinels.flatMap(({ sentinel, failure, primary, quorum }) => [
      ...(failure === undefined ? [] : [warning(failure.detail ?? sentinel, 'see whether this sentinel runs')]),
      ...(failure === undefined && primary === undefined
        ? [warning(`${sentinel} watches no primary of this name`, 'compare store.name with the sentinel')]
        : []),
      ...(quorum === false
        ? [warning(`${sentinel} sees too few sentinels to replace the primary`, 'run three, on machines of their own')]
        : []),
    ]),
    ...(primaries.size > 1
      ? [fault('invalidInput', 'the sentinels name different primaries', 'see that all watch the same one')]
      : []),
  ];
}

function clusterFindings(shape: Extract<StoreShape, { kind: 'cluster' }>): readonly Finding[] {
  if (!shape.told) {
    return [fault('refused', 'the cluster does not tell its nodes', 'see docs/redis.md for the rights it needs')];
  }
  const { unservedSlots, withoutReplica } = shape;
  return [
    ...(unservedSlots > 0
      ? [
          fault(
            'tryLater',
            `no node serves ${unservedSlots} of the slots`,
            'fix the cluster: their merchants have no store',
          ),
        ]
      : []),
    ...(withoutReplica > 0
      ? [
          warning(
            `${withoutReplica} primaries have no replica`,
            'give each one, or live with an outage when it is lost',
          ),
        ]
      : []),
  ];
}
