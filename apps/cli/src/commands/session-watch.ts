import {
  BrokerUnavailable,
  Forbidden,
  ProtocolError,
  SessionBrokerError,
  type SessionBrokerOptions,
  Unauthenticated,
} from '#libs/client';
import { toRfc3339 } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { fetchThrough, OutboundConnections } from '#libs/outbound';
import { AcceptedToken } from '../broker/accepted-token.js';
import { type BrokerOptions, type BrokerPlace, brokerPlace } from '../broker/broker-place.js';
import { FollowedReplica, type LostReplica } from '../broker/followed-replica.js';
import { type AskFault, faultLines } from '../broker/ask-fault.js';
import { askFaultCodes } from '../broker/exchange-cause.js';
import { heardThrough } from '../broker/heard-stream.js';
import { nameFault } from '../broker/named-merchants.js';
import { noticePrinter } from '../broker/notice.js';
import { FollowState } from '../broker/follow-state.js';
import { troubleFacts, troubleLines, troubleOf } from '../broker/replica-trouble.js';
import { LastRefusal } from '../broker/last-refusal.js';
import { watchMerchant } from '../broker/merchant-watch.js';
import type { ReplicaPlace } from '../broker/replica-call.js';
import { StatusLook } from '../broker/status-look.js';
import { addressRemedy, GRANT_READ, NAME_A_MERCHANT, NAME_OR_GRANT, tokenRemedy } from '../broker/remedies.js';
import { turnedAwayBy } from '../broker/turned-away.js';
import { showsWrongAddress } from '../broker/wrong-address.js';
import { type ExitClass, exitCodes, gravestOf } from '../exit-codes.js';
import type { CommandContext } from '../terminal.js';

interface WatchOptions extends BrokerOptions {
  readonly merchant: string;
  readonly json?: true;
}

/**
 * Prints a line for each session of a merchant as it comes, one whenever the condition of the merchant or of the store
 * changes, with or without a session, and one when the last session has expired without a successor, and never anything
 * secret. It follows the merchant through the client package, as a service does, and goes on through outages until it
 * is asked to end, but not if no later call can help, as with an untrusted certificate.
 * @returns the exit code: 0 if it was ended on request
 */
export async function sessionWatch(options: WatchOptions, context: CommandContext): Promise<number> {
  const connections = new OutboundConnections({ clock: context.clock });
  try {
    const broker = await brokerPlace(options, context);
    const over = await follow(options, { broker, connections }, context);
    return over === undefined ? exitCodes.ok : ended(over, options, context);
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    const { code, message } = error;
    return ended(endingOf({ code, message }, 'invalidInput'), options, context);
  } finally {
    await connections.close();
  }
}

interface Ending {
  readonly fault: ExitClass;
  readonly lines: readonly string[];
  readonly facts: { readonly error: AskFault };
}

/**
 * Reports why the watch is over.
 * @returns the exit code
 */
function ended({ fault, lines, facts }: Ending, { merchant, json }: WatchOptions, context: CommandContext): number {
  const { clock, terminal } = context;
  if (json === true) terminal.out(JSON.stringify({ event: 'ended', at: toRfc3339(clock.now()), merchant, ...facts }));
  else terminal.err(`error: ${lines.join('\n')}`);
  return exitCodes[fault];
}

const endingOf = (error: AskFault, fault: ExitClass): Ending => ({ fault, lines: faultLines(error), facts: { error } });

/** None of the replicas can be followed, no matter how long one waits. */
function endingOfAll(lost: readonly LostReplica[], broker: BrokerPlace): Ending | undefined {
  const troubles = lost.map(({ url, why }) => troubleOf(url, why, broker));
  const [first, ...others] = troubles;
  const fault = gravestOf(troubles.map((one) => one.fault));
  if (first === undefined || fault === undefined) return undefined;
  if (others.length === 0) return endingOf(first.error, fault);
  const lines = ['no replica can be followed', ...troubleLines(troubles)];
  return { fault, lines, facts: troubleFacts([first, ...others], broker) };
}

interface Reached {
  readonly broker: BrokerPlace;
  readonly connections: OutboundConnections;
}

/** @returns why the merchant can no longer be followed; undefined if the watch was ended on request */
async function follow(
  options: WatchOptions,
  { broker, connections }: Reached,
  context: CommandContext,
): Promise<Ending | undefined> {
  const { clock } = context;
  const tell = noticePrinter(options, context);
  const replica = new FollowedReplica(broker.urls);
  const giveUp = new AbortController();
  const signal = AbortSignal.any([context.signal, giveUp.signal]);
  let lost: readonly LostReplica[] = [];
  const onLost = (replicas: readonly LostReplica[]): void => {
    lost = replicas;
    giveUp.abort();
  };
  const refusal = new LastRefusal(replica, giveUp);
  const { merchant } = options;
  const [state, accepted] = [new FollowState(clock), new AcceptedToken()];
  const look = new StatusLook({ clock, signal, broker, merchant, tell, replica, state, accepted });
  const ask = fetchThrough(connections, { tls: { pins: [], ...(broker.ca === undefined ? {} : { ca: broker.ca }) } });
  const through = { clock, signal, accepted, onLost, onTurnedAway: () => refusal.weigh() };
  try {
    const client = {
      ...clientOptions(options, broker),
      fetch: heardThrough(replica.through(ask, through), () => state.heard()),
    };
    await watchMerchant(client, { tell, look, replica, refusal, state, ca: broker.ca }, { ...context, signal });
  } catch (error) {
    if (!(error instanceof SessionBrokerError)) throw error;
    const place = { url: replica.turnedAwayAt ?? replica.url };
    const said = replica.readdressed(error.message);
    return afterRefusal(error, { broker, place, said, ...options }, context);
  } finally {
    look.close();
  }
  return endingOfAll(lost, broker);
}

interface Refused extends Pick<WatchOptions, 'merchant'> {
  readonly broker: BrokerPlace;
  /** The replica that refused. */
  readonly place: ReplicaPlace;
  /** What it said. */
  readonly said: string;
}

/** What to do if the broker lets nobody in, or does not know the merchant by this name or for this caller. */
async function afterRefusal(
  error: SessionBrokerError,
  { broker, place, said, merchant }: Refused,
  context: CommandContext,
): Promise<Ending> {
  const { code, status } = error;
  const told = (message: string, remedy?: string): AskFault => ({
    code,
    message,
    ...(status === undefined ? {} : { status }),
    ...(remedy === undefined ? {} : { remedy }),
  });
  const ofEach = await turnedAwayBy(broker, { ...context, merchant });
  if (ofEach !== undefined) return ofEach;
  if (showsWrongAddress(error)) {
    const known = error instanceof ProtocolError ? { code: askFaultCodes.wrongAddress } : {};
    return endingOf({ ...told(said, addressRemedy(place)), ...known }, 'invalidInput');
  }
  if (error instanceof Unauthenticated) {
    return endingOf(told(said, tokenRemedy(broker.hasToken)), 'refused');
  }
  const places = broker.urls.map((url) => ({ url }));
  const found = await nameFault(broker, places, { ...context, merchant, code });
  if (found === undefined) return endingOf(told(said), 'refused');
  if (found.isBlind) return endingOf({ ...told(found.problem, GRANT_READ), code: askFaultCodes.noMerchant }, 'refused');
  // What the broker says about a name that it does not know means the same in more words.
  return endingOf(told(found.problem, error instanceof Forbidden ? NAME_OR_GRANT : NAME_A_MERCHANT), found.fault);
}

function clientOptions(
  { merchant }: WatchOptions,
  { urls, token, hasToken }: BrokerPlace,
): Omit<SessionBrokerOptions, 'fetch'> {
  return {
    ...{ url: urls[0].href, merchant, handover: false },
    ...(hasToken ? { auth: () => token().then((text = '') => text, tokenUnavailable) } : {}),
  };
}

/** For anything else that an auth function throws, the client package reports only the class. */
function tokenUnavailable(error: unknown): never {
  if (!(error instanceof BrokerError)) throw error;
  throw new BrokerUnavailable('token_unavailable', error.publicDetail ?? error.message);
}
