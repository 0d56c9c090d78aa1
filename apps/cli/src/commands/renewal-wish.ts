import { type AskFault, faultOfSilence } from '../broker/ask-fault.js';
import type { BrokerPlace } from '../broker/broker-place.js';
import { askFaultCodes, type NoAnswer } from '../broker/exchange-cause.js';
import { type NameFault, nameFault } from '../broker/named-merchants.js';
import {
  callReplica,
  ownCodeOf,
  placeName,
  type ReplicaAnswer,
  type ReplicaPlace,
  replicaPlaces,
} from '../broker/replica-call.js';
import type { ExitClass } from '../exit-codes.js';
import type { CommandContext } from '../terminal.js';

/** What became of the request at one replica. */
interface Asked {
  readonly place: ReplicaPlace;
  readonly answer: ReplicaAnswer | NoAnswer;
  /** What is wrong with the merchant's name there. */
  readonly nameFault: NameFault | undefined;
}

/** A replica that did nothing, so that another one was asked. */
export interface PassedOver {
  readonly place: string;
  readonly error: AskFault;
  readonly fault: ExitClass;
}

/** What became of the request, and which replicas were passed over. */
export interface Wish extends Asked {
  readonly hasReplicas: boolean;
  /** Where the request did not reach a broker. */
  readonly notAsked: readonly PassedOver[];
  /** Replicas that do not have the merchant, or not for this caller. */
  readonly notThere: readonly PassedOver[];
}

interface WishContext extends Pick<CommandContext, 'clock' | 'signal'> {
  /** Called with the name of a replica that takes long to answer. */
  readonly onWaiting: (place: string) => void;
}

/** Someone who sees nothing for longer than this thinks that the command hangs. */
const LONG_MS = 2_000;

/**
 * Asks for a newer session. Another replica is asked only if the previous one did nothing about it, so that a request
 * is never made twice.
 * @throws BrokerError if there is no longer a token to send
 */
export async function makeWish(broker: BrokerPlace, merchant: string, context: WishContext): Promise<Wish> {
  const places = await replicaPlaces(broker.urls);
  const [ca, hasReplicas] = [broker.ca, places.length > 1];
  const passed: Asked[] = [];
  for (const place of places) {
    const asked = await ask(broker, place, { ...context, merchant });
    if (!isPassedOver(asked)) return wishOf(asked, passed, { ca, hasReplicas });
    passed.push(asked);
  }
  // A replica that was not asked may have the merchant.
  const told = passed.findLast(isUnasked) ?? passed.at(-1);
  if (told === undefined) throw new Error('there is at least one URL');
  const others = passed.filter((one) => one !== told);
  return wishOf(told, others, { ca, hasReplicas });
}

async function ask(
  broker: BrokerPlace,
  place: ReplicaPlace,
  { merchant, clock, signal, onWaiting }: WishContext & { readonly merchant: string },
): Promise<Asked> {
  const path = `/v1/merchants/${encodeURIComponent(merchant)}/session/renewal`;
  const waiting = clock.schedule(LONG_MS, () => onWaiting(placeName(place)));
  const answer = await callReplica(broker, place, { method: 'POST', path, clock, signal }).finally(() =>
    waiting.cancel(),
  );
  const code = 'problem' in answer ? undefined : ownCodeOf(answer);
  return { place, answer, nameFault: await nameFault(broker, [place], { merchant, code, clock, signal }) };
}

const isPassedOver = (asked: Asked): boolean => asked.nameFault !== undefined || isUnasked(asked);

const isUnasked = ({ answer }: Asked): boolean => 'problem' in answer && cameToNoBroker(answer);

/** There was no connection, or something other than the wanted broker is there. */
export const cameToNoBroker = ({ isUnasked: wasUnconnected, fault }: NoAnswer): boolean =>
  wasUnconnected === true || fault !== 'tryLater';

type Known = Pick<BrokerPlace, 'ca'> & Pick<Wish, 'hasReplicas'>;

function wishOf(told: Asked, passed: readonly Asked[], { ca, hasReplicas }: Known): Wish {
  const notAsked = passed.flatMap(({ place, answer }) =>
    'problem' in answer
      ? [{ place: placeName(place), error: faultOfSilence(answer, place, { ca }), fault: answer.fault }]
      : [],
  );
  const notThere = passed.flatMap(({ place, answer, nameFault: wrong }) =>
    'problem' in answer || wrong === undefined
      ? []
      : [{ place: placeName(place), error: errorOf(answer, wrong), fault: wrong.fault }],
  );
  return { ...told, hasReplicas, notAsked, notThere };
}

function errorOf(answer: ReplicaAnswer, { problem: message }: NameFault): AskFault {
  return { code: ownCodeOf(answer) ?? askFaultCodes.unexpected, message, status: answer.status };
}
