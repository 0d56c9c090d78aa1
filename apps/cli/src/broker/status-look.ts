import type { ScheduledTask } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { type AcceptedToken, bearer } from './accepted-token.js';
import { AnswerNotice } from './answer-notice.js';
import { faultOfAnswer, ofFollowed } from './ask-fault.js';
import { ConditionNotice } from './condition-notice.js';
import { CredentialNotice } from './credential-notice.js';
import { ExpiryNotice, type Followed } from './expiry-notice.js';
import type { FollowedReplica } from './followed-replica.js';
import type { FollowState } from './follow-state.js';
import type { ListedMerchant } from './listed-merchant.js';
import { type Listing, listingOf } from './listing.js';
import type { NoticeParts } from './notice-parts.js';
import { OthersLook } from './others-look.js';
import { callReplica } from './replica-call.js';
import { type ReplicaTrouble, troubleOf } from './replica-trouble.js';
import { StoreNotice } from './store-notice.js';
import { unlisted } from './unlisted.js';

interface LookParts extends Omit<NoticeParts, 'place'> {
  readonly merchant: string;
  readonly replica: FollowedReplica;
  readonly state: FollowState;
  readonly accepted: AcceptedToken;
}

/** What one replica said, or why it said nothing. */
interface Seen {
  readonly url: URL;
  readonly listing?: Listing;
  /** The followed merchant, if it is listed. */
  readonly found?: ListedMerchant;
  /** The replica was asked with a different token from the one with which the merchant was last shown. */
  readonly isByExchanged?: true;
  /** The replica does not know the caller. */
  readonly refusal?: ReplicaTrouble;
  readonly trouble?: ReplicaTrouble;
  /** The replica lists others but not the merchant, to be reported along with the troubles of other replicas. */
  readonly lack?: ReplicaTrouble;
}

/** Soon enough for a person, and no load for a broker. */
const LOOK_EVERY_MS = 5_000;

/**
 * Looks at the list of the followed replica and reports what has changed there, because the stream carries only
 * sessions. While none is followed, or that one does not answer, it looks at all of them.
 */
export class StatusLook {
  readonly #parts: LookParts;
  readonly #condition: ConditionNotice;
  readonly #end: ExpiryNotice;
  readonly #store: StoreNotice;
  readonly #credential: CredentialNotice;
  readonly #answer: AnswerNotice;
  readonly #others: OthersLook;
  #task: ScheduledTask | undefined;

  constructor(parts: LookParts) {
    const { replica, tell } = parts;
    this.#parts = parts;
    this.#condition = new ConditionNotice(parts);
    const onTold = (merchant: ListedMerchant): void => this.#condition.toldAtItsEnd(merchant);
    const onSeen = (): void => {
      this.#credential.accepted();
      this.#answer.answered();
    };
    this.#end = new ExpiryNotice({ ...parts, onSeen, onTold, place: () => replica.mostTelling });
    this.#store = new StoreNotice(tell);
    this.#credential = new CredentialNotice(parts);
    this.#answer = new AnswerNotice({ ...parts, hasHad: (url) => replica.hasHad(url) });
    this.#others = new OthersLook(parts);
    this.#later();
  }

  /** Whether it has been reported why no replica says anything about the merchant. */
  get tellsWhyNot(): boolean {
    return this.#answer.isMissing;
  }

  /** A session has come, whose end is to be reported. */
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
    const seen = await this.#seen();
    if (signal.aborted) return;
    this.#later();
    if (seen.length > 0) this.#judge(seen);
  }

  /**
   * While the followed replica does not show the merchant, also the others: those that serve it, and why each of the
   * rest does not.
   */
  async #seen(): Promise<readonly Seen[]> {
    const { state, replica, broker, clock } = this.#parts;
    const { url } = replica;
    if (!state.isLive) return this.#askAll(broker.urls);
    const askedMs = clock.monotonicMs();
    const followed = await this.#askAll([url]);
    // Without a token nothing was asked.
    if (followed.length > 0) state.asked(followed.some(isUnanswered) ? askedMs : undefined);
    if (followed.every(({ found }) => found !== undefined)) return followed;
    const others = await this.#askAll(broker.urls.filter((one) => one !== url));
    return [...followed, ...others.filter((one) => one.listing === undefined || isServing(one))];
  }

  #judge(seen: readonly Seen[]): void {
    const told = tellingMost(seen);
    this.#weighCredential(told, seen);
    if (told?.listing !== undefined) this.#store.look({ listing: told.listing, place: told.url });
    if (told?.found === undefined) return this.#missing(seen);
    this.#found(told.url, told.found, seen);
  }

  #weighCredential(told: Seen | undefined, seen: readonly Seen[]): void {
    // Only a replica that shows the merchant proves that the token is fine.
    if (told?.found !== undefined) return this.#credential.accepted();
    const [refused, ...alsoRefused] = seen.flatMap(({ refusal }) => refusal ?? []);
    if (refused !== undefined) {
      const mayElse = seen.some(({ trouble }) => trouble !== undefined);
      return this.#credential.refused([refused, ...alsoRefused], mayElse);
    }
    if (told?.listing === undefined) return;
    // If the merchant is no longer followed, the replicas say themselves that they do not have it.
    const isOfToken = told.isByExchanged === true && seen.every(({ listing }) => listing !== undefined);
    if (this.#parts.state.isLive || this.#credential.isHidden || isOfToken) this.#credential.hidden(told.listing);
  }

  #found(url: URL, found: ListedMerchant, seen: readonly Seen[]): void {
    const { state, replica } = this.#parts;
    const isOther = state.isLive && url !== replica.url;
    if (isOther) this.#servedBy(url, troublesOf(seen));
    else this.#answer.answered();
    replica.noteHad(url);
    this.#end.look(found);
    this.#condition.look(found, url);
    const changesOver = isOther ? state.leaveFor(found) : isServed(found) && state.wake();
    if (changesOver) replica.follow(url);
    if (state.isLive && !isOther) void this.#others.look(url);
  }

  #servedBy(url: URL, troubles: readonly ReplicaTrouble[]): void {
    this.#answer.servedBy(url, troubles);
    this.#others.accuse(troubles);
  }

  #missing(seen: readonly Seen[]): void {
    // Problems with the token are reported separately.
    const isToldApart = seen.every(({ trouble }) => trouble === undefined);
    const { left } = this.#parts.state;
    const rest = seen.filter(({ refusal }) => refusal === undefined);
    this.#answer.missing({ troubles: isToldApart ? [] : troublesOf(rest), left });
    // The client package, which may be resting for half a minute, is to find out whether that ends the watch.
    if (seen.every(isWithout)) this.#parts.state.wake();
  }

  /** Empty if there is no token to ask with. */
  async #askAll(urls: readonly URL[]): Promise<readonly Seen[]> {
    try {
      const token = await this.#parts.broker.token();
      return await Promise.all(urls.map((url) => this.#ask(url, token)));
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error;
      this.#credential.unusable(error);
      return [];
    }
  }

  async #ask(url: URL, token: string | undefined): Promise<Seen> {
    const { clock, signal } = this.#parts;
    const broker = { ...this.#parts.broker, token: () => Promise.resolve(token) };
    const call = { method: 'GET', path: '/v1/merchants', clock, signal } as const;
    const answer = await callReplica(broker, { url }, call);
    if ('problem' in answer) return { url, trouble: troubleOf(url, answer, broker) };
    const listing = listingOf(answer);
    if (listing !== undefined) return { url, listing, ...this.#foundIn(url, listing, bearer(token)) };
    const { error, fault } = faultOfAnswer(answer, { url }, broker);
    if (answer.status !== 401) return { url, trouble: { url, error, fault } };
    return { url, refusal: { url, error: ofFollowed(error, broker), fault } };
  }

  #foundIn(url: URL, { merchants }: Listing, authorization: string | undefined): Omit<Seen, 'url' | 'listing'> {
    const { accepted, merchant } = this.#parts;
    const found = merchants.find(({ id }) => id === merchant);
    if (found === undefined) {
      const names = merchants.map(({ id }) => id);
      const isByExchanged = accepted.isExchangedFor(authorization);
      return { lack: { url, ...unlisted(merchant, names) }, ...(isByExchanged ? { isByExchanged } : {}) };
    }
    accepted.noteShown(authorization);
    return { found };
  }
}

const isServed = ({ state }: ListedMerchant): boolean => state !== 'unavailable';

/** Anything with a status is an answer. */
const isUnanswered = ({ trouble }: Seen): boolean => trouble !== undefined && trouble.error.status === undefined;

/** The replica does not have the merchant, or not for this caller, and not because the token was exchanged. */
const isWithout = ({ lack, isByExchanged }: Seen): boolean => lack !== undefined && isByExchanged !== true;

const isServing = ({ found }: Seen): boolean => found !== undefined && isServed(found);
const troublesOf = (seen: readonly Seen[]): readonly ReplicaTrouble[] =>
  seen.flatMap(({ refusal, trouble, lack }) => refusal ?? trouble ?? lack ?? []);

/** Among several replicas, one that has a session of the merchant, or at least the merchant, or at least a list. */
function tellingMost(seen: readonly Seen[]): Seen | undefined {
  return (
    seen.find(isServing) ??
    seen.find(({ found }) => found !== undefined) ??
    seen.find(({ listing }) => listing !== undefined)
  );
}
