import type { ScheduledTask } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { ConditionNotice } from './condition-notice.js';
import { ExpiryNotice, type Followed } from './expiry-notice.js';
import { CredentialNotice } from './credential-notice.js';
import type { ListedMerchant } from './listed-merchant.js';
import { type Listing, listingOf } from './listing.js';
import type { NoticeParts } from './notice-parts.js';
import { callReplica, type ReplicaAnswer } from './replica-call.js';
import { StoreNotice } from './store-notice.js';

interface LookParts extends NoticeParts {
  readonly merchant: string;
  /** Whom to ask: the replica that is followed, or, while none is, every one of them. */
  readonly places: () => readonly URL[];
  /** Told at each look of the replica at which the merchant has a session. */
  readonly onServed: (place: URL) => void;
}

/** What one replica has said. */
interface Seen {
  readonly place: URL;
  readonly answer: ReplicaAnswer;
  readonly listing: Listing | undefined;
  /** The merchant that is followed, where it is listed. */
  readonly found: ListedMerchant | undefined;
}

/** Soon enough for a person, and nothing to a broker. */
const LOOK_EVERY_MS = 5_000;

/** Looks at the list of the replica that is followed, and has told what has changed there: the stream has sessions alone. While none is followed it looks at all. */
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
    const { signal } = this.#parts;
    const seen = await this.#askAll();
    if (signal.aborted) return;
    this.#later();
    if (seen.length > 0) this.#judge(seen);
  }

  #judge(seen: readonly Seen[]): void {
    const told = tellingMost(seen);
    if (told?.listing === undefined) return seen.forEach(({ answer }) => this.#credential.refused(answer));
    const { place, listing, found } = told;
    this.#credential.accepted();
    this.#store.look({ listing, place });
    if (found === undefined) return;
    this.#end.look(found);
    this.#condition.look(found);
    if (isServed(found)) this.#parts.onServed(place);
  }

  /** Nothing of a broker that does not answer, which is told by the stream, and where there is no token to ask with. */
  async #askAll(): Promise<readonly Seen[]> {
    try {
      const seen = await Promise.all(this.#parts.places().map((place) => this.#ask(place)));
      return seen.filter((one) => one !== undefined);
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error;
      this.#credential.unusable(error);
      return [];
    }
  }

  async #ask(place: URL): Promise<Seen | undefined> {
    const { broker, clock, signal, merchant } = this.#parts;
    const call = { method: 'GET', path: '/v1/merchants', clock, signal } as const;
    const answer = await callReplica(broker, { url: place }, call);
    if ('problem' in answer) return undefined;
    const listing = listingOf(answer);
    return { place, answer, listing, found: listing?.merchants.find(({ id }) => id === merchant) };
  }
}

const isServed = ({ state }: ListedMerchant): boolean => state !== 'unavailable';

/** Of several replicas one that has a session of the merchant, or at least the merchant, or at least a list. */
function tellingMost(seen: readonly Seen[]): Seen | undefined {
  return (
    seen.find(({ found }) => found !== undefined && isServed(found)) ??
    seen.find(({ found }) => found !== undefined) ??
    seen.find(({ listing }) => listing !== undefined)
  );
}
