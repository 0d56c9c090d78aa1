import {
  BrokerUnavailable,
  type ClientEvent,
  type Session,
  SessionBroker,
  SessionBrokerError,
  type SessionBrokerOptions,
  Unauthenticated,
} from '#libs/client';
import { type Clock, toRfc3339 } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { thumbprintOf } from '#libs/jwe';
import { fetchThrough, OutboundConnections } from '#libs/outbound';
import { type BrokerOptions, type BrokerPlace, brokerPlace } from '../broker/broker-place.js';
import { FollowedReplica, type LostReplica } from '../broker/followed-replica.js';
import { type AskFault, faultLines, faultOfSilence } from '../broker/ask-fault.js';
import { nameFault } from '../broker/named-merchants.js';
import { type Notice, noticePrinter } from '../broker/notice.js';
import { LastRefusal } from '../broker/last-refusal.js';
import type { ReplicaPlace } from '../broker/replica-call.js';
import { StatusLook } from '../broker/status-look.js';
import { spanText } from '../broker/listed-merchant.js';
import { addressRemedy, GRANT_READ, NAME_A_MERCHANT, tokenRemedy } from '../broker/remedies.js';
import { showsWrongAddress } from '../broker/wrong-address.js';
import { type ExitClass, exitCodes, gravestOf } from '../exit-codes.js';
import type { CommandContext } from '../terminal.js';

interface WatchOptions extends BrokerOptions {
  readonly merchant: string;
  readonly json?: true;
}

interface Watched {
  readonly tell: (notice: Notice) => void;
  readonly look: StatusLook;
  readonly replica: FollowedReplica;
  readonly refusal: LastRefusal;
}

/** The client's own timers keep no process alive. */
const AWAKE_MS = 60_000;

/**
 * A line for each session of a merchant as it comes, one when its condition or that of the store changes, with a session or without, one when
 * the last of them has expired without a next one, and never a part of it that is secret. It follows as a service does, by the client package, and goes on
 * through outages until it is asked to end; not past what no later call mends, such as a certificate that is not trusted.
 * @returns the exit code: 0 when it was ended on request
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
    return ended({ errors: [{ code, message }], fault: 'invalidInput' }, options, context);
  } finally {
    await connections.close();
  }
}

interface Ending {
  /** Of each replica its own, where they differ. */
  readonly errors: readonly AskFault[];
  readonly fault: ExitClass;
}

/** Tells why the watch is over. @returns the exit code */
function ended({ errors, fault }: Ending, { merchant, json }: WatchOptions, context: CommandContext): number {
  const { clock, terminal } = context;
  if (json === true) {
    const at = toRfc3339(clock.now());
    for (const error of errors) terminal.out(JSON.stringify({ event: 'ended', at, merchant, error }));
    return exitCodes[fault];
  }
  for (const error of errors) {
    const [what = '', ...more] = faultLines(error);
    terminal.err([`error: ${what}`, ...more].join('\n'));
  }
  return exitCodes[fault];
}

interface Reached {
  readonly broker: BrokerPlace;
  readonly connections: OutboundConnections;
}

/** @returns why the merchant cannot be followed any more; undefined when it was ended on request */
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
  const look = new StatusLook({ clock, signal, broker, merchant, tell, place: () => replica.url });
  const ask = fetchThrough(connections, { tls: { pins: [], ...(broker.ca === undefined ? {} : { ca: broker.ca }) } });
  const through = { clock, signal, onLost, onTurnedAway: () => refusal.weigh() };
  try {
    const client = { ...clientOptions(options, broker), fetch: replica.through(ask, through) };
    await watch(client, { tell, look, replica, refusal }, { ...context, signal });
  } catch (error) {
    if (!(error instanceof SessionBrokerError)) throw error;
    return afterRefusal(error, { broker, place: { url: replica.turnedAwayAt ?? replica.url }, ...options }, context);
  } finally {
    look.close();
  }
  const gravest = gravestOf(lost.map(({ why }) => why.fault));
  if (gravest === undefined) return undefined;
  return { errors: lost.map(({ url, why }) => faultOfSilence(why, { url }, broker)), fault: gravest };
}

interface Refused extends Pick<WatchOptions, 'merchant'> {
  readonly broker: BrokerPlace;
  /** The replica that has refused. */
  readonly place: ReplicaPlace;
}

/** What to do where the broker lets nobody in, or does not know the merchant by this name, or not for this caller. */
async function afterRefusal(
  error: SessionBrokerError,
  { broker, place, merchant }: Refused,
  context: CommandContext,
): Promise<Ending> {
  const { code, status } = error;
  const told = (message: string, remedy?: string): AskFault => ({
    code,
    message,
    ...(status === undefined ? {} : { status }),
    ...(remedy === undefined ? {} : { remedy }),
  });
  if (showsWrongAddress(error)) return { errors: [told(error.message, addressRemedy(place))], fault: 'invalidInput' };
  if (error instanceof Unauthenticated) {
    return { errors: [told(error.message, tokenRemedy(broker.hasToken))], fault: 'refused' };
  }
  const found = await nameFault(broker, place, { ...context, merchant, code });
  if (found === undefined) return { errors: [told(error.message)], fault: 'refused' };
  // What the broker says of a name that it does not know is the same in more words.
  return {
    errors: [told(found.problem, found.fault === 'invalidInput' ? NAME_A_MERCHANT : GRANT_READ)],
    fault: found.fault,
  };
}

function clientOptions(
  { merchant }: WatchOptions,
  { urls, token, hasToken }: BrokerPlace,
): Omit<SessionBrokerOptions, 'fetch'> {
  return {
    ...{ url: urls[0].href, merchant, handover: false },
    ...(hasToken ? { auth: async () => (await token()) ?? '' } : {}),
  };
}

/** @throws SessionBrokerError when the broker lets nobody in with these credentials, or does not know the merchant */
async function watch(
  options: SessionBrokerOptions,
  { tell, look, replica, refusal }: Watched,
  { clock, terminal, signal }: CommandContext,
): Promise<void> {
  const broker = new SessionBroker({
    ...options,
    onEvent: (event) => {
      if (event.type === 'session') void broker.session().then(print, goesOn);
      else if (!refusal.ends(event)) tellOf(event, replica, { clock, terminal });
    },
  });
  const print = (session: Session): void => {
    tell(noticeOf(session, clock));
    look.follow(session);
  };
  try {
    await broker.session({ signal }).catch((error: unknown) => {
      if (!signal.aborted) goesOn(error);
      if (error instanceof BrokerUnavailable) terminal.err(`no session yet: ${error.message}`);
    });
    await awake(clock, signal);
    refusal.throwIfFinal();
  } finally {
    await broker.close();
  }
}

/** Nothing to serve, or closed meanwhile: what follows is told by the next event. */
function goesOn(error: unknown): void {
  const isPassing = error instanceof BrokerUnavailable || (error instanceof SessionBrokerError && isClosed(error));
  if (!isPassing) throw error;
}

const isClosed = ({ code }: SessionBrokerError): boolean => code === 'client_closed';

function tellOf(
  event: ClientEvent,
  replica: FollowedReplica,
  { clock, terminal }: Pick<CommandContext, 'clock' | 'terminal'>,
): void {
  const at = toRfc3339(clock.now());
  if (event.type === 'following') terminal.err(`${at}  following by ${event.mode}${replica.atWhich}`);
  if (event.type !== 'interrupted' && event.type !== 'retrying') return;
  // Of the tries for the first session the first one is told, at once: the others follow it closely.
  if (event.type === 'interrupted' || event.attempt === 1) {
    const why = replica.readdressed(event.error?.message ?? 'the stream ended');
    terminal.err(`${at}  interrupted: ${why}; next try ${soonText(event.retryInMs)}`);
  }
  replica.changeOver();
}

const soonText = (delayMs: number): string => (delayMs < 1_000 ? 'at once' : `in ${spanText(delayMs)}`);

/** Resolves when the process is asked to end, and keeps it alive until then. */
function awake(clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let task = clock.schedule(0, () => undefined);
    const again = (): void => {
      if (signal.aborted) return resolve();
      task = clock.schedule(AWAKE_MS, again);
    };
    signal.addEventListener('abort', () => (task.cancel(), resolve()), { once: true });
    again();
  });
}

/** What may be shown of a session: no token, and no id of the device. */
function shownOf({ merchant, generation, createdAt, expiresAt, renewAt, ...keys }: Session): Record<string, unknown> {
  const { clientKeyThumbprint, serverPublic } = keys;
  const serverKeyThumbprint = thumbprintOf(serverPublic);
  return { merchant, generation, createdAt, expiresAt, renewAt, clientKeyThumbprint, serverKeyThumbprint };
}

function noticeOf(session: Session, clock: Clock): Notice {
  const { merchant, generation, expiresAt, clientKeyThumbprint } = session;
  const left = spanText(Date.parse(expiresAt) - clock.now());
  const words = `generation ${generation}  expires ${expiresAt} (in ${left})  client key ${clientKeyThumbprint}`;
  return { event: 'session', about: merchant, words, facts: shownOf(session) };
}
