import { type BrokerOptions, brokerPlace } from '../broker/broker-place.js';
import {
  type ChangedConfiguration,
  changedConfiguration,
  configurationTrouble,
} from '../broker/changed-configuration.js';
import {
  causeText,
  faultOf,
  leftText,
  type ListedMerchant,
  nextText,
  shownCondition,
} from '../broker/listed-merchant.js';
import {
  type Disagreement,
  disagreementsOf,
  disagreementText,
  HANDED_OVER_WITHIN_MS,
  lastingOf,
} from '../broker/disagreement.js';
import type { NoAnswer } from '../broker/exchange-cause.js';
import { type Listing, listingOf } from '../broker/listing.js';
import { callReplica, placeName, type ReplicaAnswer, replicaPlaces } from '../broker/replica-call.js';
import { hasStoreTrouble, STORE_DOWN, storeTrouble } from '../broker/store-trouble.js';
import { type Cell, tableLines } from '../broker/table.js';
import { CORRECT_ADDRESS, toldWithRemedy, tokenRemedy } from '../broker/remedies.js';
import { isWrongAddress } from '../broker/wrong-address.js';
import { type ExitClass, exitCodes, gravestOf } from '../exit-codes.js';
import { pause } from '../pause.js';
import type { Report } from '../report.js';
import type { CommandContext } from '../terminal.js';

/** What one replica says, or why it says nothing. */
interface ReplicaStatus extends Listing {
  readonly place: string;
  /** Absent while the files of its configuration say what is in force. */
  readonly configuration?: ChangedConfiguration;
  readonly problem?: string;
  readonly fault?: ExitClass;
}

/**
 * Every merchant that the caller may read, as every replica sees it.
 * @throws BrokerError `invalid_request` before anything is asked
 */
export async function status(options: BrokerOptions, context: CommandContext): Promise<Report> {
  const { clock, signal } = context;
  const broker = await brokerPlace(options, context);
  const places = await replicaPlaces(broker.urls);
  const call = { method: 'GET', path: '/v1/merchants', clock, signal } as const;
  const look = (): Promise<readonly ReplicaStatus[]> =>
    Promise.all(
      places.map(async (place) =>
        statusOf(placeName(place), await callReplica(broker, place, call), {
          ca: broker.ca,
          hasToken: (await broker.token()) !== undefined,
        }),
      ),
    );
  const first = await look();
  const differing = disagreementsOf(first);
  if (differing.length === 0) return reportOf({ replicas: first, disagreements: [] }, context);
  await pause(clock, HANDED_OVER_WITHIN_MS, signal);
  const replicas = await look();
  return reportOf({ replicas, disagreements: lastingOf(differing, replicas) }, context);
}

interface Seen {
  readonly replicas: readonly ReplicaStatus[];
  readonly disagreements: readonly Disagreement[];
}

function reportOf({ replicas, disagreements }: Seen, { clock, terminal }: CommandContext): Report {
  const ofAll: ExitClass[] = disagreements.length === 0 ? [] : ['tryLater'];
  const gravest = gravestOf([...ofAll, ...replicas.flatMap(faultsOf)]);
  const hasColours = terminal.hasColours === true;
  const told = disagreements.map((one) => [{ text: disagreementText(one), tone: 'red' } as const]);
  return {
    lines: [
      ...replicas.flatMap((replica, index) => [
        ...(index === 0 ? [] : ['']),
        ...linesOf(replica, { nowMs: clock.now(), hasColours }),
      ]),
      ...(told.length === 0 ? [] : ['', ...tableLines(told, hasColours)]),
    ],
    json: {
      replicas: replicas.map(jsonOf),
      ...(disagreements.length === 0 ? {} : { disagreements }),
    },
    exitCode: gravest === undefined ? exitCodes.ok : exitCodes[gravest],
  };
}

function jsonOf(status: ReplicaStatus): object {
  const { place, replica, store, storeReason, configuration, merchants, problem } = status;
  return {
    place,
    ...(replica === undefined ? {} : { replica }),
    ...(store === undefined ? {} : { store }),
    ...(storeReason === undefined ? {} : { storeReason }),
    ...(hasStoreTrouble(status) ? { runbook: STORE_DOWN } : {}),
    ...(configuration === undefined ? {} : { configuration }),
    ...(problem === undefined ? { merchants } : { problem }),
    ...(seesNothing(status) ? { problem: NO_MERCHANT } : {}),
  };
}

function faultsOf(replica: ReplicaStatus): readonly ExitClass[] {
  const { fault, merchants } = replica;
  const ofStore: ExitClass[] = hasStoreTrouble(replica) ? ['tryLater'] : [];
  const ofPolicy: ExitClass[] = seesNothing(replica) ? ['refused'] : [];
  return [fault, ...ofStore, ...ofPolicy, ...merchants.map(faultOf)].filter((one) => one !== undefined);
}

/** What is not seen may be wrong: that is no all-clear. */
const seesNothing = ({ merchants, problem }: ReplicaStatus): boolean => problem === undefined && merchants.length === 0;

const NO_MERCHANT =
  'no merchant that this caller may read: have session:read granted to it, or use the token of one that has it';

interface Access {
  readonly ca: string | undefined;
  readonly hasToken: boolean;
}

function statusOf(place: string, answer: ReplicaAnswer | NoAnswer, { ca, hasToken }: Access): ReplicaStatus {
  if ('problem' in answer) {
    return { place, merchants: [], problem: `no answer: ${toldWithRemedy(answer, { ca })}`, fault: answer.fault };
  }
  const { status: got, body } = answer;
  const listed = listingOf(answer);
  if (listed === undefined) {
    const says = [body['title'], body['detail']].filter((text) => typeof text === 'string').join(': ');
    const said = `HTTP ${got}${says === '' ? ', which is not the answer of a broker' : `: ${says}`}`;
    if (isWrongAddress(answer)) {
      return { place, merchants: [], problem: `${said}; ${CORRECT_ADDRESS}`, fault: 'invalidInput' };
    }
    return {
      place,
      merchants: [],
      problem: got === 401 ? `${said}; ${tokenRemedy(hasToken)}` : said,
      fault: got >= 500 || got === 429 ? 'tryLater' : 'refused',
    };
  }
  const changed = changedConfiguration(body['configuration']);
  return { ...listed, place, ...(changed === undefined ? {} : { configuration: changed }) };
}

interface Look {
  readonly nowMs: number;
  readonly hasColours: boolean;
}

const HEADS: readonly Cell[] = ['MERCHANT', 'STATE', 'LEFT', 'NEXT', 'GENERATION', 'CAUSE'].map((text) => ({ text }));

function linesOf(replicaStatus: ReplicaStatus, { nowMs, hasColours }: Look): readonly string[] {
  const { place, replica, configuration, merchants, problem } = replicaStatus;
  const [name] = tableLines([[{ text: replica === undefined ? place : `${replica}  ${place}` }]], hasColours);
  if (problem !== undefined) {
    return [name ?? '', ...tableLines([[{ text: problem, tone: 'red' }]], hasColours)];
  }
  const trouble = storeTrouble(replicaStatus);
  const heads = [
    name ?? '',
    ...(trouble === undefined ? [] : tableLines([[{ text: trouble, tone: 'red' }]], hasColours)),
    ...configurationTrouble(configuration).flatMap((text) => tableLines([[{ text, tone: 'yellow' }]], hasColours)),
  ];
  if (seesNothing(replicaStatus)) return [...heads, ...tableLines([[{ text: NO_MERCHANT, tone: 'red' }]], hasColours)];
  return [...heads, ...tableLines([HEADS, ...merchants.map((merchant) => cellsOf(merchant, nowMs))], hasColours)];
}

function cellsOf(merchant: ListedMerchant, nowMs: number): readonly Cell[] {
  const { id, generation } = merchant;
  const { word, tone } = shownCondition(merchant);
  return [
    { text: id },
    { text: word, tone },
    { text: leftText(merchant, nowMs) },
    { text: nextText(merchant, nowMs) },
    { text: generation === undefined ? '-' : String(generation) },
    { text: causeText(merchant) ?? '' },
  ];
}
