import { type Instant, toRfc3339 } from '#libs/clock';
import type { NoticeParts } from './notice-parts.js';
import { tokenRemedy } from './remedies.js';
import type { ReplicaAnswer } from './replica-call.js';

/** As long as it lasts nothing else is told of the merchant, and a line of long ago is not seen any more. */
const REMIND_EVERY_MS = 60_000;
const NOT_ACCEPTED = 'The broker does not accept the credential (401)';

type Parts = Pick<NoticeParts, 'broker' | 'clock' | 'tell'> & { readonly merchant: string };

/** Says that the broker does not accept the token any more, again about once a minute while that lasts, and when it is over. */
export class CredentialNotice {
  readonly #parts: Parts;
  #since: Instant | undefined;
  #toldAtMs = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The answer is not the list. */
  async refused({ status, body }: ReplicaAnswer): Promise<void> {
    if (status !== 401) return;
    const { broker, clock } = this.#parts;
    const moment = clock.monotonicMs();
    if (this.#since !== undefined && moment - this.#toldAtMs < REMIND_EVERY_MS) return;
    const lasting = this.#since === undefined ? '' : `, since ${toRfc3339(this.#since)}`;
    this.#since ??= clock.now();
    this.#toldAtMs = moment;
    const remedy = tokenRemedy((await broker.token()) !== undefined);
    const code = typeof body['code'] === 'string' ? body['code'] : 'unauthenticated';
    const message = `${NOT_ACCEPTED}${lasting}: nothing is seen of the merchant`;
    this.#tell(`${message}\nWhat to do: ${remedy}`, { accepted: false, error: { code, message, status, remedy } });
  }

  accepted(): void {
    if (this.#since === undefined) return;
    this.#since = undefined;
    this.#tell('The broker accepts the credential again.', { accepted: true });
  }

  #tell(words: string, facts: object): void {
    const { merchant, tell } = this.#parts;
    tell({ event: 'credential', about: merchant, words, facts: { merchant, ...facts } });
  }
}
