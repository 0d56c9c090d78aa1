import { type BrokerOptions, type BrokerPlace, brokerPlace } from '../broker/broker-place.js';
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
  supportText,
  type Tone,
} from '../broker/listed-merchant.js';
import {
  type Disagreement,
  disagreementsOf,
  disagreementText,
  HANDED_OVER_WITHIN_MS,
  lastingOf,
} from '../broker/disagreement.js';
import { type AskFault, faultLines, faultOfAnswer, faultOfSilence } from '../broker/ask-fault.js';
import { askFaultCodes, type NoAnswer } from '../broker/exchange-cause.js';
import { type Listing, listingOf } from '../broker/listing.js';
import {
  lastingPartsOf,
  type PartialListing,
  partialListingsOf,
  partialListingText,
} from '../broker/partial-listing.js';
import { GRANT_READ } from '../broker/remedies.js';
import {
  callReplica,
  placeName,
  type ReplicaAnswer,
  type ReplicaPlace,
  replicaPlaces,
} from '../broker/replica-call.js';
import { hasStoreTrouble, STORE_DOWN, storeTrouble } from '../broker/store-trouble.js';
import { type Cell, tableLines } from '../broker/table.js';
import { type ExitClass, exitCodes, gravestOf } from '../exit-codes.js';
import { pause } from '../pause.js';
import type { Report } from '../report.js';
import type { CommandContext } from '../terminal.js';

/** What one replica says, or why it says nothing. */
interface ReplicaStatus extends Listing {
  readonly place: string;
  /** Absent as long as the configuration files match what is in force. */
  readonly configuration?: ChangedConfiguration;
  /** Why it says nothing about merchants. */
  readonly error?: AskFault;
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
    Promise.all(places.map(async (place) => statusOf(place, await callReplica(broker, place, call), broker)));
  const first = await look();
  const [differing, partial] = [disagreementsOf(first), partialListingsOf(first)];
  if (differing.length + partial.length === 0) {
    return reportOf({ replicas: first, disagreements: [], partialListings: [] }, context);
  }
  await pause(clock, HANDED_OVER_WITHIN_MS, signal);
  const replicas = await look();
  const disagreements = lastingOf(differing, replicas);
  return reportOf({ replicas, disagreements, partialListings: lastingPartsOf(partial, replicas) }, context);
}

interface Seen {
  readonly replicas: readonly ReplicaStatus[];
  readonly disagreements: readonly Disagreement[];
  readonly partialListings: readonly PartialListing[];
}

function reportOf({ replicas, disagreements, partialListings }: Seen, { clock, terminal }: CommandContext): Report {
  const texts = [...partialListings.map(partialListingText), ...disagreements.map(disagreementText)];
  const ofAll: ExitClass[] = texts.length === 0 ? [] : ['tryLater'];
  const gravest = gravestOf([...ofAll, ...replicas.flatMap(faultsOf)]);
  const hasColours = terminal.hasColours === true;
  const support = new Set(replicas.flatMap(({ merchants }) => merchants.flatMap((one) => supportText(one) ?? [])));
  const told = [...[...support].map((text) => [{ text }]), ...texts.map((text) => [{ text, tone: 'red' } as const])];
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
      ...(partialListings.length === 0 ? {} : { partialListings }),
      ...(disagreements.length === 0 ? {} : { disagreements }),
    },
    exitCode: gravest === undefined ? exitCodes.ok : exitCodes[gravest],
  };
}

function jsonOf(status: ReplicaStatus): object {
  const { place, replica, store, storeReason, configuration, merchants, error } = status;
  return {
    place,
    ...(replica === undefined ? {} : { replica }),
    ...(store === undefined ? {} : { store }),
    ...(storeReason === undefined ? {} : { storeReason }),
    ...(hasStoreTrouble(status) ? { runbook: STORE_DOWN } : {}),
    ...(configuration === undefined ? {} : { configuration }),
    ...(error === undefined || error === NO_MERCHANT ? { merchants } : {}),
    ...(error === undefined ? {} : { error }),
  };
}

function faultsOf(replica: ReplicaStatus): readonly ExitClass[] {
  const { fault, merchants } = replica;
  const ofStore: ExitClass[] = hasStoreTrouble(replica) ? ['tryLater'] : [];
  return [fault, ...ofStore, ...merchants.map(faultOf)].filter((one) => one !== undefined);
}

/** What is not seen may be wrong, so this is no all-clear. */
const NO_MERCHANT: AskFault = {
  code: askFaultCodes.noMerchant,
  message: 'no merchant that this caller may read',
  remedy: GRANT_READ,
};

function statusOf(asked: ReplicaPlace, answer: ReplicaAnswer | NoAnswer, broker: BrokerPlace): ReplicaStatus {
  const place = placeName(asked);
  if ('problem' in answer) {
    return { place, merchants: [], error: faultOfSilence(answer, asked, broker), fault: answer.fault };
  }
  const listed = listingOf(answer);
  if (listed === undefined) return { place, merchants: [], ...faultOfAnswer(answer, asked, broker) };
  const changed = changedConfiguration(answer.body['configuration']);
  return {
    ...listed,
    place,
    ...(changed === undefined ? {} : { configuration: changed }),
    ...(listed.merchants.length === 0 ? ({ error: NO_MERCHANT, fault: 'refused' } as const) : {}),
  };
}

interface Look {
  readonly nowMs: number;
  readonly hasColours: boolean;
}

const HEADS: readonly Cell[] = ['MERCHANT', 'STATE', 'LEFT', 'NEXT', 'GENERATION', 'CAUSE'].map((text) => ({ text }));

function linesOf(replicaStatus: ReplicaStatus, { nowMs, hasColours }: Look): readonly string[] {
  const { place, replica, configuration, merchants, error } = replicaStatus;
  const [name = ''] = tableLines([[{ text: replica === undefined ? place : `${replica}  ${place}` }]], hasColours);
  const told = (texts: readonly string[], tone: Tone): readonly string[] =>
    texts.flatMap((text) => tableLines([[{ text, tone }]], hasColours));
  const trouble = storeTrouble(replicaStatus);
  const heads = [
    name,
    ...told(trouble === undefined ? [] : [trouble], 'red'),
    ...told(configurationTrouble(configuration), 'yellow'),
  ];
  if (error !== undefined) return [...heads, ...told(faultLines(error), 'red')];
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
