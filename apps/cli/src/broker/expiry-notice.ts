import type { Session } from '#libs/client';
import { type ScheduledTask, toRfc3339 } from '#libs/clock';
import { causeText, type ListedMerchant } from './listed-merchant.js';
import { listedMerchant } from './listing.js';
import type { NoticeParts } from './notice-parts.js';

/** Says when the session that was seen last has expired and no newer one has come, and what is the matter. */
export class ExpiryNotice {
  readonly #parts: NoticeParts;
  #task: ScheduledTask | undefined;

  constructor(parts: NoticeParts) {
    this.#parts = parts;
  }

  /** From now on this is the session whose end counts. */
  follow(session: Pick<Session, 'merchant' | 'generation' | 'expiresAt'>): void {
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

  async #say({ merchant, generation }: Pick<Session, 'merchant' | 'generation'>): Promise<void> {
    const { broker, place, clock, signal, tell } = this.#parts;
    const at = toRfc3339(clock.now());
    const known = await listedMerchant(broker, { url: place() }, { merchant, clock, signal });
    if (signal.aborted || (typeof known !== 'string' && (known?.generation ?? 0) > generation)) return;
    tell(`${at}  ${merchant}  expired${becauseOf(known)}`);
  }
}

function becauseOf(known: ListedMerchant | string | undefined): string {
  if (typeof known === 'string') return `: ${known}`;
  const cause = known && causeText(known);
  return cause === undefined ? ', and no newer session has come' : `: ${cause}`;
}
