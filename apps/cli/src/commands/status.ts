import { someOf } from '#libs/errors';
import { membersOf, textIn } from '../broker/answer.js';
import { type BrokerFault, GRANT_READ, isFault } from '../broker/broker-fault.js';
import { type BrokerOptions, brokerPlace } from '../broker/broker-place.js';
import { type ListedMerchant, type Listing, listingOf, STORE_DOWN } from '../broker/listing.js';
import { ask, placeName, replicaPlaces } from '../broker/replica-call.js';
import { type ExitClass, exitCodes, gravestOf } from '../exit-codes.js';
import type { Report } from '../report.js';
import { type Cell, type CommandContext, type Line, tableLines, type Tone } from '../terminal.js';

/** What one replica says, or why it says nothing. */
interface ReplicaStatus {
  readonly place: string;
  readonly said: Listing | BrokerFault;
}

/**
 * Every merchant that the caller may read, as every replica sees it.
 * @throws BrokerError `invalid_request` before anything is asked
 */
export async function status(options: BrokerOptions, context: CommandContext): Promise<Report> {
  const broker = await brokerPlace(options, context);
  const { clock, signal } = context;
  const places = await replicaPlaces(broker.urls);
  const read = (body: Listing['body']): Listing | undefined => listingOf(body, clock.now());
  const call = { method: 'GET', path: '/v1/merchants', clock, signal, read } as const;
  const replicas = await Promise.all(
    places.map(async (place) => ({ place: placeName(place), said: await ask(broker, place, call) })),
  );
  const gravest = gravestOf(replicas.flatMap(({ said }) => faultsOf(said)));
  return {
    lines: linesOf(replicas),
    json: { replicas: replicas.map(jsonOf) },
    exitCode: gravest === undefined ? exitCodes.ok : exitCodes[gravest],
  };
}

/** What is not seen may be wrong, so this is no all-clear. */
const NO_MERCHANT = {
  code: 'no_merchant_readable',
  message: 'this caller may read no merchant',
  remedy: GRANT_READ,
} as const;

function faultsOf(said: ReplicaStatus['said']): readonly ExitClass[] {
  if (isFault(said)) return [said.fault];
  const { merchants, storeTrouble, body } = said;
  const isRefused = textIn(membersOf(body['configuration']), 'refusedSince') !== undefined;
  const ofStore: ExitClass[] = storeTrouble === undefined ? [] : ['tryLater'];
  const ofCaller: ExitClass[] = merchants.length === 0 ? ['refused'] : [];
  return [
    ...(isRefused ? (['invalidInput'] as const) : []),
    ...ofStore,
    ...ofCaller,
    ...merchants.flatMap(({ fault }) => fault ?? []),
  ];
}

function jsonOf({ place, said }: ReplicaStatus): object {
  if (isFault(said)) return { place, error: said.error };
  const { replica, store, storeReason, configuration, merchants } = said.body;
  return {
    ...{ place, replica, store, storeReason, configuration, merchants },
    ...(said.storeTrouble === undefined ? {} : { runbook: STORE_DOWN }),
    ...(said.merchants.length === 0 ? { error: NO_MERCHANT } : {}),
  };
}

const nameOf = ({ place, said }: ReplicaStatus): string => (isFault(said) ? place : (said.replica ?? place));

const HEADS: readonly Cell[] = ['MERCHANT', 'REPLICA', 'STATE', 'LEFT', 'NEXT', 'GENERATION'].map((text) => ({ text }));

function linesOf(replicas: readonly ReplicaStatus[]): readonly Line[] {
  const rows = replicas.flatMap((replica) =>
    isFault(replica.said) ? [] : replica.said.merchants.map((merchant) => ({ merchant, name: nameOf(replica) })),
  );
  // The replicas of one merchant stand together: one that is behind, or does not have it, is seen at once.
  const together = [...Map.groupBy(rows, ({ merchant }) => merchant.id).values()].flat();
  const told = remarkLines(replicas);
  return [
    ...tableLines(
      replicas.map(({ place, said }) => [{ text: isFault(said) ? '-' : (said.replica ?? '-') }, { text: place }]),
    ),
    ...(rows.length === 0 ? [] : ['', ...tableLines([HEADS, ...together.map(cellsOf)])]),
    ...(told.length === 0 ? [] : ['', ...told]),
  ];
}

function cellsOf({ merchant, name }: { merchant: ListedMerchant; name: string }): readonly Cell[] {
  const { id, state, left, next, generation } = merchant;
  return [{ text: id }, { text: name }, state, { text: left }, { text: next }, { text: generation }];
}

/** What a replica says of itself, or of a merchant. */
interface Remark {
  readonly text: string;
  readonly tone?: Tone;
  readonly replica: string;
  readonly merchant?: string;
}

/** What several say is said once, with the merchants and, unless all of them say it, the replicas. */
function remarkLines(replicas: readonly ReplicaStatus[]): readonly Line[] {
  const remarks = replicas.flatMap(remarksOf);
  const listing = replicas.filter(({ said }) => !isFault(said)).length;
  const ofOne = [...Map.groupBy(remarks, ({ merchant, text }) => JSON.stringify([merchant, text])).values()];
  const said = ofOne.flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ ...first, at: [first, ...others].map(({ replica }) => replica) }],
  );
  const lines = [...Map.groupBy(said, ({ at, text }) => JSON.stringify([at, text])).values()].flatMap((alike) => {
    const [first] = alike;
    if (first === undefined) return [];
    const { at, text, tone } = first;
    const merchants = alike.flatMap(({ merchant }) => merchant ?? []);
    const isOfAll = at.length === (merchants.length === 0 ? replicas.length : listing);
    const who = [...(merchants.length === 0 ? [] : [someOf(merchants)]), ...(isOfAll ? [] : [someOf(at)])].join(' at ');
    return [[{ text: who === '' ? text : `${who}: ${text}`, ...(tone === undefined ? {} : { tone }) }]];
  });
  const remedies = new Set(replicas.flatMap(({ said: one }) => errorOf(one)?.remedy ?? []));
  return [...lines, ...[...remedies].map((remedy) => `What to do: ${remedy}`)];
}

function remarksOf(status: ReplicaStatus): readonly Remark[] {
  const { said } = status;
  const replica = nameOf(status);
  const error = errorOf(said);
  const red = [...(isFault(said) ? [] : [said.storeTrouble]), error?.message];
  const yellow = isFault(said) ? [] : said.configurationTroubles;
  const merchants = isFault(said) ? [] : said.merchants;
  return [
    ...red.flatMap((text) => (text === undefined ? [] : [{ text, tone: 'red', replica } as const])),
    ...yellow.map((text) => ({ text, tone: 'yellow', replica }) as const),
    ...merchants.flatMap(({ id, cause }) => (cause === undefined ? [] : [{ text: cause, replica, merchant: id }])),
    ...merchants.flatMap(({ id, gatewayRequestId }) =>
      gatewayRequestId === undefined
        ? []
        : [
            {
              text: `the bank's support finds the last attempt by gatewayRequestId ${gatewayRequestId}`,
              replica,
              merchant: id,
            },
          ],
    ),
  ];
}

const errorOf = (said: ReplicaStatus['said']): { readonly message: string; readonly remedy?: string } | undefined => {
  if (isFault(said)) return said.error;
  return said.merchants.length === 0 ? NO_MERCHANT : undefined;
};
