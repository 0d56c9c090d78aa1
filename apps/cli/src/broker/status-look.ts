import type { ScheduledTask } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { ConditionNotice } from './condition-notice.js';
import { ExpiryNotice, type Followed } from './expiry-notice.js';
import { CredentialNotice } from './credential-notice.js';
import { listingOf } from './listing.js';
import type { NoticeParts } from './notice-parts.js';
import { callReplica, type ReplicaAnswer } from './replica-call.js';
import { StoreNotice } from './store-notice.js';

interface LookParts extends NoticeParts {
  readonly merchant: string;
}

/** Soon enough for a person, and nothing to a broker. */
const LOOK_EVERY_MS = 5_000;

/** Looks at the list of the replica that is followed, and has told what has changed there: the stream has sessions alone. */
export class StatusLook {
  readonly #parts: LookParts;
  readonly #condition: ConditionNotice;
  readonly #end: ExpiryNotice;
  readonly #store: StoreNotice;
  readonly #credential: CredentialNotice;
  #task: ScheduledTask | undefined;

  constructor(parts: LookParts) {
    this.#parts = parts;
    this.#condition = new ConditionNotice(parts.tell);
    this.#end = new ExpiryNotice({ ...parts, onTold: (merchant) => this.#condition.toldAtItsEnd(merchant) });
    this.#store = new StoreNotice(parts.tell);
    this.#credential = new CredentialNotice(parts);
    this.#later();
  }

  /** A session has come, whose end is to be told. */
  follow(session: Followed): void {
    this.#end.follow(session);
  }

  close(): void {
    this.#task?.cancel();
    this.#end.close();
  }

  #later(): void {
    this.#task = this.#parts.clock.schedule(LOOK_EVERY_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { place, merchant, signal } = this.#parts;
    const url = place();
    const answer = await this.#ask(url);
    if (signal.aborted) return;
    this.#later();
    if (answer === undefined) return;
    const listed = listingOf(answer);
    if (listed === undefined) return this.#credential.refused(answer);
    this.#credential.accepted();
    this.#store.look({ listing: listed, place: url });
    const found = listed.merchants.find(({ id }) => id === merchant);
    if (found === undefined) return;
    this.#end.look(found);
    this.#condition.look(found);
  }

  /** Undefined for a broker that does not answer, which is told by the stream, and where there is no token to ask with. */
  async #ask(url: URL): Promise<ReplicaAnswer | undefined> {
    const { broker, clock, signal } = this.#parts;
    try {
      const answer = await callReplica(broker, { url }, { method: 'GET', path: '/v1/merchants', clock, signal });
      return 'problem' in answer ? undefined : answer;
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error;
      this.#credential.unusable(error);
      return undefined;
    }
  }
}
