import { askFaultCodes, type NoAnswer } from './exchange-cause.js';
import type { BrokerPlace } from './broker-place.js';
import { addressRemedy, followedTokenRemedy, reachRemedy, tokenRemedy } from './remedies.js';
import { ownCodeOf, type ReplicaAnswer, type ReplicaPlace } from './replica-call.js';
import { isWrongAddress } from './wrong-address.js';
import type { ExitClass } from '../exit-codes.js';

/**
 * Why a broker did not do what was asked. With `--json` this is the `error` of every command that asks a broker;
 * docs/command-line-json.md lists its codes.
 */
export interface AskFault {
  /** The broker's own code, if it answered. */
  readonly code: string;
  readonly message: string;
  /** The HTTP status, if there was an answer. */
  readonly status?: number;
  readonly remedy?: string;
  readonly runbook?: string;
}

export interface Classed {
  readonly error: AskFault;
  readonly fault: ExitClass;
}

const REPLICA_DOWN = 'replica-down';

/** For a broker that gave no answer. */
export function faultOfSilence(
  why: NoAnswer,
  place: Pick<ReplicaPlace, 'url'>,
  broker: Pick<BrokerPlace, 'ca'>,
): AskFault {
  const { code, problem: message } = why;
  const remedy = reachRemedy(why, place, broker);
  return {
    code,
    message,
    ...(remedy === undefined ? {} : { remedy }),
    ...(code === askFaultCodes.unreachable || why.isHung === true ? { runbook: REPLICA_DOWN } : {}),
  };
}

/** For an answer that is not the wanted list. */
export function faultOfAnswer(
  answer: ReplicaAnswer,
  place: Pick<ReplicaPlace, 'url'>,
  { hasToken }: Pick<BrokerPlace, 'hasToken'>,
): Classed {
  const { status, body } = answer;
  const says = [body['title'], body['detail']].filter((text) => typeof text === 'string').join(': ');
  const message = `HTTP ${status}${says === '' ? ', which is not the answer of a broker' : `: ${says}`}`;
  const own = ownCodeOf(answer);
  if (isWrongAddress(answer)) {
    const code = own ?? askFaultCodes.wrongAddress;
    return { error: { code, message, status, remedy: addressRemedy(place) }, fault: 'invalidInput' };
  }
  const remedy = remedyOf({ status, own }, hasToken);
  const code = own ?? askFaultCodes.unexpected;
  return {
    error: { code, message, status, ...(remedy === undefined ? {} : { remedy }) },
    fault: status >= 500 || status === 429 ? 'tryLater' : 'refused',
  };
}

/** What a broker calls a caller that it does not know. */
const NOT_KNOWN = 'unauthenticated';

/** The same for a followed replica, for which the caller's file is read again and again. */
export function ofFollowed(error: AskFault, { hasToken }: Pick<BrokerPlace, 'hasToken'>): AskFault {
  if (error.status !== 401) return error;
  const code = error.code === askFaultCodes.unexpected ? NOT_KNOWN : error.code;
  return { ...error, code, remedy: followedTokenRemedy(hasToken) };
}

/** A broker answers every caller that it knows, even if only with an empty list. */
const OF_A_PROXY =
  'what answers is in front of the broker and lets nobody in: have it let this machine in, or give the address of a replica';

const NOT_PASSED_ON =
  'what answers is in front of the broker: see whether it reaches the broker, or give the address of a replica';

interface Refusal {
  readonly status: number;
  /** The broker's own code. */
  readonly own: string | undefined;
}

function remedyOf({ status, own }: Refusal, hasToken: boolean): string | undefined {
  if (status === 401) return tokenRemedy(hasToken);
  if (status >= 500 && own === undefined) return NOT_PASSED_ON;
  return status === 403 || status === 407 ? OF_A_PROXY : undefined;
}

/** For people: what happened, and on a line of its own what to do. */
export const faultLines = ({ message, remedy }: Pick<AskFault, 'message' | 'remedy'>): readonly string[] => [
  message,
  ...(remedy === undefined ? [] : [`What to do: ${remedy}`]),
];
