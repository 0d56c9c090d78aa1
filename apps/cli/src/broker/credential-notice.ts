import { type Instant, toRfc3339 } from '#libs/clock';
import { type BrokerError, someOf } from '#libs/errors';
import { type AskFault, faultLines } from './ask-fault.js';
import { askFaultCodes } from './exchange-cause.js';
import type { FollowState, Left } from './follow-state.js';
import type { Listing } from './listing.js';
import type { NoticeParts } from './notice-parts.js';
import { GRANT_READ, NAME_OR_GRANT } from './remedies.js';
import { type ShownTroubles, troubleFacts, type Troubles } from './replica-trouble.js';

/** While this lasts, nothing else is reported about the merchant, and a line from long ago is no longer noticed. */
const REMIND_EVERY_MS = 60_000;
const NOT_ACCEPTED = 'The broker does not accept the credential (401)';
const ACCEPTED = 'The broker accepts the credential';
const MEND_THE_FILE = 'fix it: it is read anew for each question';

const NOT_SEEN = 'This caller may not see the merchant any more';
const SEEN = 'This caller may see the merchant';

function notAcceptedBy(troubles: Troubles, mayElse: boolean): string {
  const origins = someOf(troubles.map(({ url }) => url.origin));
  const other = mayElse ? '; another replica, which does not answer, may accept it' : '';
  return `The credential is not accepted by ${origins} (401)${other}`;
}

interface Parts extends Pick<NoticeParts, 'broker' | 'clock' | 'tell'> {
  readonly merchant: string;
  readonly state: Pick<FollowState, 'left' | 'hasBegun'>;
}

/** What was last reported. */
interface Told {
  /** Distinguishes one cause from another. */
  readonly what: string;
  /** What was seen of the merchant nevertheless. */
  readonly left: Left['kind'];
  readonly since: Instant;
  readonly atMs: number;
  /** Words for its end. */
  readonly overWords: string;
  /** Whether the merchant had been seen before. */
  readonly wasSeen: boolean;
}

/**
 * Reports that no token lets the caller see the merchant: at once if the cause is new, again about once a minute while
 * that lasts, and when it is over.
 */
export class CredentialNotice {
  readonly #parts: Parts;
  #told: Told | undefined;
  /**
   * Replicas that did not know the caller when last asked: one that has gone silent since most likely still does not.
   */
  readonly #refusing = new Set<URL>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Some replicas do not know the caller.
   * @param mayElse another replica has not answered, and may know it
   */
  refused(troubles: Troubles, mayElse: boolean): void {
    const { urls } = this.#parts.broker;
    const { error, replicas } = troubleFacts(troubles, { urls });
    for (const { url } of troubles) this.#refusing.add(url);
    const isByAll = urls.every((url) => this.#refusing.has(url));
    if (isByAll) this.#refuse({ ...error, message: NOT_ACCEPTED }, ACCEPTED);
    else this.#refuse({ ...error, message: notAcceptedBy(troubles, mayElse) }, ACCEPTED, replicas);
  }

  /** There is no token in its file, or no such file. */
  unusable({ code, message, publicDetail = message }: BrokerError): void {
    this.#refuse({ code, message: publicDetail, remedy: MEND_THE_FILE }, ACCEPTED);
  }

  /**
   * The list lacks the merchant although the stream of its sessions is open: the stream began with another token, or
   * with other rights.
   */
  hidden({ merchants }: Listing): void {
    const names = merchants.map(({ id }) => id);
    const isBlind = names.length === 0;
    const seen = isBlind ? 'it may see none at all' : `it may see ${someOf(names)}`;
    const matter = isBlind
      ? { code: askFaultCodes.noMerchant, remedy: GRANT_READ }
      : { code: 'forbidden', remedy: NAME_OR_GRANT };
    this.#refuse({ ...matter, message: `${NOT_SEEN}; ${seen}` }, SEEN);
  }

  /** Whether the last report was that the merchant is hidden. */
  get isHidden(): boolean {
    return this.#told?.overWords === SEEN;
  }

  /** A replica has shown the merchant. */
  accepted(): void {
    this.#refusing.clear();
    if (this.#told === undefined) return;
    const { overWords, wasSeen } = this.#told;
    this.#told = undefined;
    this.#tell(`${overWords}${wasSeen ? ' again' : ''}.`, { accepted: true });
  }

  #refuse(fault: AskFault, overWords: string, replicas?: ShownTroubles['replicas']): void {
    const { clock, state } = this.#parts;
    const { kind: left, words, facts } = state.left;
    const [what, atMs, before] = [`${fault.code} ${fault.message}`, clock.monotonicMs(), this.#told];
    const isSame = before?.what === what;
    if (isSame && before.left === left && atMs - before.atMs < REMIND_EVERY_MS) return;
    const since = isSame ? before.since : clock.now();
    this.#told = { what, left, atMs, overWords, since, wasSeen: before?.wasSeen ?? state.hasBegun };
    const lasting = isSame ? `, since ${toRfc3339(before.since)}` : '';
    const error = { ...fault, message: `${fault.message}${lasting}: ${words}` };
    const ofReplicas = replicas === undefined ? {} : { replicas };
    this.#tell(faultLines(error).join('\n'), { accepted: false, ...facts, error, ...ofReplicas });
  }

  #tell(words: string, facts: object): void {
    const { merchant, tell } = this.#parts;
    tell({ event: 'credential', about: merchant, words, facts: { merchant, ...facts } });
  }
}
