import type { Session } from '#libs/client';
import type { ScheduledTask } from '#libs/clock';
import { causeText, type ListedMerchant } from './listed-merchant.js';
import { listedMerchant } from './listing.js';
import type { NoticeParts } from './notice-parts.js';

type Followed = Pick<Session, 'merchant' | 'generation' | 'expiresAt'>;

/** Says when the session that was seen last has expired and no newer one has come, and what is the matter. */
export class ExpiryNotice {
  readonly #parts: NoticeParts;
  #task: ScheduledTask | undefined;

  constructor(parts: NoticeParts) {
    this.#parts = parts;
  }

  /** From now on this is the session whose end counts. */
  follow(session: Followed): void {
    const { clock } = this.#parts;
    this.#task?.cancel();
    this.#task = clock.schedule(
      Math.max(0, Date.parse(session.expiresAt) - clock.now()),
      () => void this.#say(session),
    );
  }

  close(): void {
    this.#task?.cancel();
  }

  async #say({ merchant, generation, expiresAt }: Followed): Promise<void> {
    const { broker, place, clock, signal, tell } = this.#parts;
    const known = await listedMerchant(broker, { url: place() }, { merchant, clock, signal });
    if (signal.aborted || (typeof known !== 'string' && (known?.generation ?? 0) > generation)) return;
    const { words, ...why } = becauseOf(known);
    tell({
      event: 'expired',
      about: merchant,
      words: `expired${words}`,
      facts: { merchant, generation, expiresAt, ...why },
    });
  }
}

interface Because extends Pick<ListedMerchant, 'cause' | 'runbook'> {
  readonly words: string;
}

function becauseOf(known: ListedMerchant | string | undefined): Because {
  if (typeof known === 'string') return { words: `: ${known}`, cause: known };
  if (known?.cause === undefined) return { words: ', and no newer session has come' };
  const { cause, runbook } = known;
  return { words: `: ${causeText(known) ?? cause}`, cause, ...(runbook === undefined ? {} : { runbook }) };
}
