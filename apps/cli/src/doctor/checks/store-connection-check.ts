import { StoreInspectionFailure, type StoreShape } from '#libs/store';
import { type Check, fact, fault, type Finding, looked, some, warning } from '../check.js';
import type { StoreVisit } from '../store-visit.js';

/** Whether the store lets the broker in, and whether the servers behind it are complete. */
export function storeConnectionCheck(visit: StoreVisit): Check {
  return {
    name: 'store.connection',
    needs: ['configuration'],
    limitMs: 15_000,
    run: async () => {
      try {
        const { shape } = await visit.inspection();
        const names = (await visit.servers()).map(({ address }) => address);
        return looked([fact(`${shape.kind}: ${some(names)}`), ...shapeFindings(shape)]);
      } catch (error) {
        if (!(error instanceof StoreInspectionFailure)) throw error;
        return looked([failed(error)]);
      }
    },
  };
}

function failed({ kind, detail = '' }: StoreInspectionFailure): Finding {
  return kind === 'refused'
    ? fault('refused', detail, 'compare user, password and TLS settings of the store; see docs/redis.md')
    : fault('tryLater', detail, 'see whether Redis runs, and whether this machine may reach it');
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
            'mend the cluster: their merchants have no store',
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
