import type { RequestData } from '#libs/gateway';
import type { RecipientKey } from '#libs/jwe';
import { GatewayFailure } from '#libs/session';

/** A key that the session request data could be meant for. */
export interface RecipientCandidate {
  /** What a setting would call it. */
  readonly file: string;
  readonly key: RecipientKey;
}

interface SearchSpace {
  /** Names for a body field or a header, the likeliest first. */
  readonly names: readonly string[];
  /** The likeliest first; at least one. */
  readonly recipients: readonly RecipientCandidate[];
  readonly maxCalls: number;
}

/** One create call with the data attached in this way. @throws GatewayFailure */
type TryOut = (requestData: RequestData) => Promise<void>;

export interface Place {
  readonly attach: 'body' | 'header';
  readonly name: string;
}

export type SearchResult = { readonly calls: number } & (
  | { readonly kind: 'not_needed' }
  | ({ readonly kind: 'found'; readonly recipient: RecipientCandidate } & Place)
  /** The gateway reads the data there, but it was sealed to none of the keys that the gateway opens it with. */
  | ({ readonly kind: 'place_found' } & Place)
  | { readonly kind: 'not_found' }
  /** A failure that says nothing about the request data. */
  | { readonly kind: 'stopped'; readonly failure: GatewayFailure }
);

/** The gateway found the data but could not open it, so this is where it looks. */
const NOT_OPENED = 'b_encryptor_failed_decrypt_message';
/** Refusals that no other place or recipient would change. */
const UNRELATED: ReadonlySet<string | undefined> = new Set([
  'b_merchant_not_found',
  'b_terminal_not_found',
  'b_virtual_device_not_found',
]);

type Outcome = 'accepted' | 'wrong_recipient' | 'wrong_place' | GatewayFailure;

/**
 * Finds out how the gateway wants the session request data (interface description, "Create a technical session", open
 * point): first without it, then place by place with the likeliest recipient, and once the gateway shows that it reads
 * the data in one place, with every other recipient. Each attempt is a create call.
 */
export async function searchRequestData(space: SearchSpace, tryOut: TryOut): Promise<SearchResult> {
  const search = new Search(space, tryOut);
  const result = await search.run();
  return { ...result, calls: search.calls };
}

type Found = SearchResult extends infer Result ? (Result extends SearchResult ? Omit<Result, 'calls'> : never) : never;

class Search {
  calls = 0;
  readonly #space: SearchSpace;
  readonly #tryOut: TryOut;

  constructor(space: SearchSpace, tryOut: TryOut) {
    this.#space = space;
    this.#tryOut = tryOut;
  }

  async run(): Promise<Found> {
    const without = await this.#try({ attach: 'none' });
    if (without === 'accepted') return { kind: 'not_needed' };
    if (without instanceof GatewayFailure) return { kind: 'stopped', failure: without };
    const [likeliest, ...others] = this.#space.recipients;
    if (likeliest === undefined) throw new TypeError('there is no recipient to try');
    for (const place of placesOf(this.#space.names)) {
      if (this.calls >= this.#space.maxCalls) break;
      const outcome = await this.#try({ ...place, recipient: likeliest.key });
      if (outcome === 'accepted') return { kind: 'found', ...place, recipient: likeliest };
      if (outcome === 'wrong_recipient') return this.#findRecipient(place, others);
      if (outcome instanceof GatewayFailure) return { kind: 'stopped', failure: outcome };
    }
    return { kind: 'not_found' };
  }

  async #findRecipient(place: Place, candidates: readonly RecipientCandidate[]): Promise<Found> {
    for (const recipient of candidates) {
      if (this.calls >= this.#space.maxCalls) break;
      const outcome = await this.#try({ ...place, recipient: recipient.key });
      if (outcome === 'accepted') return { kind: 'found', ...place, recipient };
      if (outcome instanceof GatewayFailure) return { kind: 'stopped', failure: outcome };
    }
    return { kind: 'place_found', ...place };
  }

  async #try(requestData: RequestData): Promise<Outcome> {
    this.calls += 1;
    try {
      await this.#tryOut(requestData);
      return 'accepted';
    } catch (error) {
      if (!(error instanceof GatewayFailure)) throw error;
      if (error.msgCode === NOT_OPENED) return 'wrong_recipient';
      return error.kind === 'refused' && !UNRELATED.has(error.msgCode) && error.httpStatus !== undefined
        ? 'wrong_place'
        : error;
    }
  }
}

const placesOf = (names: readonly string[]): readonly Place[] =>
  names.flatMap((name) => [
    { attach: 'body', name },
    { attach: 'header', name },
  ]);
