import { someOf } from '#libs/errors';
import type { AskFault, Classed } from './ask-fault.js';
import { isListed, listedMerchant } from './listing.js';
import type { NoticeParts } from './notice-parts.js';
import { RELOAD } from './remedies.js';
import { type ReplicaTrouble, troubleFacts, troubleLines } from './replica-trouble.js';

type OthersParts = Pick<NoticeParts, 'broker' | 'clock' | 'signal' | 'tell'> & { readonly merchant: string };

/** A broker answers from memory, and the next look comes soon. */
const ANSWER_WITHIN_MS = 4_000;
const RUNBOOK = 'config-reload-failed';
/** The watch has no token to ask with, which is reported separately. */
const NO_TOKEN = 'invalid_request';

/**
 * Reports which replicas do not serve the merchant while the followed one does, for a reason that a person has to fix,
 * such as a reload that has not reached them, and when that is over. Since a reload reaches one replica after another,
 * only what two looks in a row have seen is reported. A replica that does not answer keeps its previous verdict.
 */
export class OthersLook {
  readonly #parts: OthersParts;
  #isLooking = false;
  /** The code of the trouble that the last look saw for the first time. */
  readonly #suspected = new Map<URL, string>();
  readonly #troubles = new Map<URL, ReplicaTrouble>();
  /** Replicas that were already reported elsewhere as not serving the merchant. */
  readonly #accused = new Set<URL>();
  /** Replicas of the last line that have come to serve the merchant since. */
  readonly #mended = new Set<URL>();
  #told = '';

  constructor(parts: OthersParts) {
    this.#parts = parts;
  }

  /** These have already been reported, but not their end. */
  accuse(troubles: readonly ReplicaTrouble[]): void {
    for (const { url } of troubles) this.#accused.add(url);
  }

  /** @param followed the followed replica, which has just shown the merchant */
  async look(followed: URL): Promise<void> {
    const { broker, merchant, clock, signal } = this.#parts;
    if (this.#isLooking || broker.urls.length === 1) return;
    this.#isLooking = true;
    const bounds = { clock, signal, limitMs: ANSWER_WITHIN_MS };
    const others = broker.urls.filter((url) => url !== followed);
    const said = await Promise.all(
      others.map(async (url) => [url, await listedMerchant(broker, url, { merchant, ...bounds })] as const),
    );
    this.#isLooking = false;
    if (signal.aborted) return;
    this.#serves(followed);
    for (const [url, one] of said) {
      if (isListed(one)) this.#serves(url);
      else if (isToMend(one)) this.#suspect(url, one);
    }
    this.#tell(followed);
  }

  #serves(url: URL): void {
    this.#suspected.delete(url);
    const isMended = this.#troubles.delete(url);
    if (this.#accused.delete(url) || isMended) this.#mended.add(url);
  }

  #suspect(url: URL, { error, fault }: Classed): void {
    const isLasting = this.#troubles.has(url) || this.#suspected.get(url) === error.code;
    this.#suspected.set(url, error.code);
    if (isLasting) this.#troubles.set(url, { url, error: ofOneReplica(error), fault });
  }

  #tell(followed: URL): void {
    const { broker } = this.#parts;
    const [first, ...others] = broker.urls.flatMap((url) => this.#troubles.get(url) ?? []);
    if (first === undefined) return this.#over();
    const now = JSON.stringify([first, ...others].map(({ url, error }) => [url.href, error]));
    if (now === this.#told) return;
    this.#told = now;
    this.#mended.clear();
    const { replicas } = troubleFacts([first, ...others], broker);
    const words = `${followed.origin} serves the merchant, while another one does not:`;
    const facts = { agree: false, servedBy: followed.origin, replicas };
    this.#say([words, ...troubleLines([first, ...others])].join('\n'), facts);
  }

  #over(): void {
    this.#told = '';
    if (this.#accused.size > 0 || this.#mended.size === 0) return;
    const origins = [...this.#mended].map(({ origin }) => origin);
    this.#mended.clear();
    this.#say(`${someOf(origins)} ${origins.length === 1 ? 'serves' : 'serve'} the merchant, too.`, { agree: true });
  }

  #say(words: string, facts: object): void {
    const { merchant, tell } = this.#parts;
    tell({ event: 'replicas', about: merchant, words, facts: { merchant, ...facts } });
  }
}

const isToMend = ({ error, fault }: Classed): boolean => fault !== 'tryLater' && error.code !== NO_TOKEN;

/** If another replica answers, the caller is not at fault. */
function ofOneReplica(error: AskFault): AskFault {
  const isOfCaller = error.status === 401 || error.remedy === undefined;
  return isOfCaller ? { ...error, remedy: RELOAD, runbook: RUNBOOK } : error;
}
