import { type Instant, toRfc3339 } from '#libs/clock';
import type { BrokerError } from '#libs/errors';
import { type AskFault, faultLines } from './ask-fault.js';
import type { NoticeParts } from './notice-parts.js';
import { tokenRemedy } from './remedies.js';
import { ownCodeOf, type ReplicaAnswer } from './replica-call.js';

/** As long as it lasts nothing else is told of the merchant, and a line of long ago is not seen any more. */
const REMIND_EVERY_MS = 60_000;
const NOT_ACCEPTED = 'The broker does not accept the credential (401)';
const MEND_THE_FILE = 'mend it: it is read anew for each question';

type Parts = Pick<NoticeParts, 'broker' | 'clock' | 'tell'> & { readonly merchant: string };

/** Says that there is no token that the broker accepts, again about once a minute while that lasts, and when it is over. */
export class CredentialNotice {
  readonly #parts: Parts;
  #since: Instant | undefined;
  #toldAtMs = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The answer is not the list. */
  refused(answer: ReplicaAnswer): void {
    const { status } = answer;
    if (status !== 401 || !this.#isDue()) return;
    const code = ownCodeOf(answer) ?? 'unauthenticated';
    this.#refuse({ code, message: NOT_ACCEPTED, status, remedy: tokenRemedy(this.#parts.broker.hasToken) });
  }

  /** There is no token in its file, or no such file. */
  unusable({ code, message, publicDetail = message }: BrokerError): void {
    if (this.#isDue()) this.#refuse({ code, message: publicDetail, remedy: MEND_THE_FILE });
  }

  accepted(): void {
    if (this.#since === undefined) return;
    this.#since = undefined;
    this.#tell('The broker accepts the credential again.', { accepted: true });
  }

  #isDue(): boolean {
    return this.#since === undefined || this.#parts.clock.monotonicMs() - this.#toldAtMs >= REMIND_EVERY_MS;
  }

  #refuse(fault: AskFault): void {
    const { clock } = this.#parts;
    const lasting = this.#since === undefined ? '' : `, since ${toRfc3339(this.#since)}`;
    this.#since ??= clock.now();
    this.#toldAtMs = clock.monotonicMs();
    const error = { ...fault, message: `${fault.message}${lasting}: nothing is seen of the merchant` };
    this.#tell(faultLines(error).join('\n'), { accepted: false, error });
  }

  #tell(words: string, facts: object): void {
    const { merchant, tell } = this.#parts;
    tell({ event: 'credential', about: merchant, words, facts: { merchant, ...facts } });
  }
}
