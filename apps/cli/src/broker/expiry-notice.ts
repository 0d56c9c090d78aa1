import type { Session } from '#libs/client';
import type { ScheduledTask } from '#libs/clock';
import { type AskFault, type Classed, ofFollowed } from './ask-fault.js';
import { causeText, type ListedMerchant, nextAttemptText } from './listed-merchant.js';
import { isListed, listedAnywhere } from './listing.js';
import type { NoticeParts } from './notice-parts.js';

/**
 * A broker answers from memory: one that has said nothing by then hangs, and must not delay the report that a session
 * has ended.
 */
const ANSWER_WITHIN_MS = 2_000;

const EXPIRED = { word: 'expired', tone: 'red' } as const;

/** What is remembered of a session until its end. */
export type Followed = Pick<Session, 'merchant' | 'generation' | 'expiresAt'>;

interface ExpiryParts extends NoticeParts {
  /** Called before the line if the merchant was listed for it: whatever kept it from being seen is over. */
  readonly onSeen: () => void;
  /** Called with what the line said about the merchant, if it was listed. */
  readonly onTold: (merchant: ListedMerchant) => void;
}

/** Reports once that the last seen session has expired without a newer one, and what is wrong. */
export class ExpiryNotice {
  readonly #parts: ExpiryParts;
  /** The session whose end has not been reported. */
  #followed: Followed | undefined;
  #task: ScheduledTask | undefined;

  constructor(parts: ExpiryParts) {
    this.#parts = parts;
  }

  /** From now on, the end of this session counts. */
  follow(session: Followed): void {
    const { clock } = this.#parts;
    this.#task?.cancel();
    this.#followed = session;
    this.#task = clock.schedule(
      Math.max(0, Date.parse(session.expiresAt) - clock.now()),
      () => void this.#ask(session),
    );
  }

  /** The broker has its own clock: the followed session may end before this machine's clock says so. */
  look(merchant: ListedMerchant): void {
    if (this.#followed !== undefined && merchant.reason === 'expired') this.#say(this.#followed, merchant);
  }

  close(): void {
    this.#task?.cancel();
  }

  async #ask(session: Followed): Promise<void> {
    const { broker, place, clock, signal } = this.#parts;
    const { merchant } = session;
    const bounds = { clock, signal, limitMs: ANSWER_WITHIN_MS };
    const known = await listedAnywhere(broker, place(), { merchant, ...bounds });
    if (!signal.aborted && this.#followed === session) this.#say(session, known);
  }

  #say(session: Followed, known: ListedMerchant | Classed): void {
    const { merchant, generation, expiresAt } = session;
    const merchantSeen = isListed(known);
    if (merchantSeen && (known.generation ?? 0) > generation) return;
    const { tell, onSeen, onTold, broker, clock } = this.#parts;
    this.#task?.cancel();
    this.#followed = undefined;
    if (merchantSeen) onSeen();
    const { words, ...why } = merchantSeen ? becauseOf(known, clock.now()) : unseen(ofFollowed(known.error, broker));
    tell({
      event: 'expired',
      about: merchant,
      words: `${EXPIRED.word}${words}`,
      state: EXPIRED,
      facts: { merchant, generation, expiresAt, merchantSeen, ...why },
    });
    if (merchantSeen) onTold(known);
  }
}

interface Because extends Pick<ListedMerchant, 'cause' | 'runbook' | 'retryAt'> {
  readonly words: string;
}

/** What hides a newer session is not the cause of the end. */
const unseen = (error: AskFault): { readonly words: string; readonly error: AskFault } => ({
  words: `; whether a newer session has come is not seen: ${error.message}`,
  error,
});

function becauseOf(known: ListedMerchant, nowMs: number): Because {
  // By the broker's own clock, the session may not have ended yet.
  const over = { ...known, state: 'unavailable' };
  const { cause, runbook, retryAt } = known;
  const next = retryAt === undefined ? {} : { retryAt };
  if (cause === undefined) return { words: ', and no newer session has come', ...next };
  return {
    words: `: ${causeText(known) ?? cause}${nextAttemptText(over, nowMs)}`,
    cause,
    ...(runbook === undefined ? {} : { runbook }),
    ...next,
  };
}
