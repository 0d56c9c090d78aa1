import type { GatewayFailureKind } from './gateway-failure.js';
import type { ClaimRefusal } from './ports/session-store.js';
import type { Session } from './session.js';

/** What became of a wish for a newer session. `retryInMs` is when wishing again can make sense. */
export type RenewalResult =
  | { readonly kind: 'renewed' }
  | { readonly kind: 'already_newer' }
  | { readonly kind: 'failed'; readonly because: GatewayFailureKind; readonly retryInMs: number }
  | { readonly kind: 'lost' | 'store_down' | 'stopping'; readonly retryInMs: number }
  | ClaimRefusal;

/** Whether another replica has published in the meantime: then all there is to do is read the store. */
export function meansStoreIsAhead(result: RenewalResult): boolean {
  return result.kind === 'already_newer' || result.kind === 'lost';
}

/** One was created within the last seconds, and no call was made for this wish. */
export interface JustRenewed {
  readonly kind: 'just_renewed';
  readonly session: Session;
  /** When asking again gets a newer one. */
  readonly retryInMs: number;
}

/** What became of a person's wish. */
export type WantedResult = RenewalResult | JustRenewed;
