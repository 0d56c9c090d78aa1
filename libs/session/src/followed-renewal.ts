import type { RenewalRequest } from './claims.js';
import { meansStoreIsAhead, type RenewalResult } from './renewal-result.js';
import type { Renewer } from './renewer.js';
import type { SessionSync } from './session-sync.js';
import { isStoreOutage, STORE_RETRY_MS } from './store-outage.js';

/**
 * Renews, and reads the store if it turns out to be ahead: then another replica has published in the meantime, and its
 * session is all that is wanted. An outage of the store is a result, not an error.
 */
export async function renewAndFollow(
  parts: { readonly renewer: Renewer; readonly sync: SessionSync },
  request: RenewalRequest,
): Promise<RenewalResult> {
  const result = await parts.renewer.renew(request);
  // So that the next due moment is watched from its beginning.
  if (result.kind === 'renewed') parts.sync.want([request.merchant]);
  if (!meansStoreIsAhead(result)) return result;
  try {
    await parts.sync.refresh(request.merchant);
    return result;
  } catch (error) {
    if (!isStoreOutage(error)) throw error;
    return { kind: 'store_down', retryInMs: STORE_RETRY_MS };
  }
}
