import {
  BrokerUnavailable,
  type ClientEvent,
  type Session,
  SessionBroker,
  SessionBrokerError,
  type SessionBrokerOptions,
} from '#libs/client';
import { type Clock, toRfc3339 } from '#libs/clock';
import { thumbprintOf } from '#libs/jwe';
import type { CommandContext } from '../terminal.js';
import { faultLines } from './ask-fault.js';
import type { BrokerPlace } from './broker-place.js';
import type { FollowedReplica } from './followed-replica.js';
import type { FollowState } from './follow-state.js';
import type { LastRefusal } from './last-refusal.js';
import { spanText } from './listed-merchant.js';
import type { Notice, TellNotice } from './notice.js';
import { reachRemedy } from './remedies.js';
import type { StatusLook } from './status-look.js';

interface Watched {
  readonly tell: TellNotice;
  readonly look: StatusLook;
  readonly replica: FollowedReplica;
  readonly refusal: LastRefusal;
  readonly state: FollowState;
  readonly ca: BrokerPlace['ca'];
}

/** The client's own timers do not keep a process alive. */
const AWAKE_MS = 60_000;

/**
 * Follows a merchant until the signal aborts, with a new client each time the previous one is to wait no longer.
 * @throws SessionBrokerError if the broker lets nobody in with these credentials, or does not know the merchant
 */
export async function watchMerchant(
  options: SessionBrokerOptions,
  watched: Watched,
  context: CommandContext,
): Promise<void> {
  const { state, refusal } = watched;
  for (let isFirst = true; !context.signal.aborted; isFirst = false) {
    const signal = AbortSignal.any([context.signal, state.begin()]);
    await watchUntil(options, { ...watched, isFirst }, { ...context, signal });
    refusal.throwIfFinal();
  }
}

interface Turn extends Watched {
  /** A caller who is let in nowhere from the start need not go on. */
  readonly isFirst: boolean;
}

async function watchUntil(options: SessionBrokerOptions, turn: Turn, context: CommandContext): Promise<void> {
  const { tell, look, replica, refusal, state, isFirst } = turn;
  const { clock, terminal, signal } = context;
  const broker = new SessionBroker({
    ...options,
    onEvent: (event) => {
      state.note(event);
      if (event.type === 'session') print(broker.current());
      else if (!refusal.ends(event)) tellOf(event, { ...turn, merchant: options.merchant }, { clock, terminal });
    },
  });
  const print = (session: Session | undefined): void => {
    if (session === undefined || !state.isNew(session)) return;
    tell(noticeOf(session, clock));
    look.follow(session);
  };
  try {
    await broker.session({ signal }).catch((error: unknown) => {
      // Later on, the follower reports what it is.
      if (signal.aborted || !isFirst) return;
      goesOn(error);
      // If no replica answers, the look reports why for each of them.
      if (!(error instanceof BrokerUnavailable) || look.tellsWhyNot) return;
      terminal.err(`${toRfc3339(clock.now())}  no session yet: ${replica.readdressed(error.message)}`);
    });
    await awake(clock, signal);
  } finally {
    await broker.close();
  }
}

/** There was nothing to serve, or the client was closed in the meantime: the next event reports what follows. */
function goesOn(error: unknown): void {
  const isPassing = error instanceof BrokerUnavailable || (error instanceof SessionBrokerError && isClosed(error));
  if (!isPassing) throw error;
}

const isClosed = ({ code }: SessionBrokerError): boolean => code === 'client_closed';

type Told = Pick<Watched, 'replica' | 'ca' | 'state'> & Pick<SessionBrokerOptions, 'merchant'>;

function tellOf(
  event: ClientEvent,
  { replica, ca, state, merchant }: Told,
  { clock, terminal }: Pick<CommandContext, 'clock' | 'terminal'>,
): void {
  const at = toRfc3339(clock.now());
  if (event.type === 'following') terminal.err(`${at}  following by ${event.mode}${replica.atWhich}`);
  if (event.type !== 'interrupted' && event.type !== 'retrying') return;
  // Of the attempts to get the first session, only the first is reported, at once: the others follow it closely.
  if (event.type === 'interrupted' || event.attempt === 1) {
    const lost = replica.whyLost;
    const why = lost?.problem ?? replica.readdressed(event.error?.message ?? 'the stream ended');
    const message = `${at}  ${interruptedText(state, merchant)}: ${why}; next try ${soonText(event.retryInMs)}`;
    const remedy = lost && reachRemedy(lost, replica, { ca });
    terminal.err(faultLines({ message, ...(remedy === undefined ? {} : { remedy }) }).join('\n'));
  }
  replica.changeOver();
}

/** What has not begun cannot be interrupted. */
const interruptedText = ({ hasBegun }: Pick<FollowState, 'hasBegun'>, merchant: string): string =>
  hasBegun ? 'interrupted' : `waiting for the first session of ${merchant}`;

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

/** What may be shown of a session: no token, and no device id. */
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
