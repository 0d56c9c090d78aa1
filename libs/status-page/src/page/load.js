/** @import { StatusDocument } from '../status-document.js' */
/** @import { Filter } from './filters.js' */
import { after } from './time.js';

const MAX_WAIT_MS = 5_000;

/**
 * Asks the replica for its state.
 * @param {Filter} [filter]
 * @returns {Promise<StatusDocument | undefined>} undefined if there is no answer, or not one of the replica's
 */
export async function load({ text, condition } = { text: '', condition: undefined }) {
  const query = new URLSearchParams({ search: text, condition: condition ?? '' });
  const gone = new AbortController();
  const callOff = after(MAX_WAIT_MS, () => gone.abort());
  try {
    const response = await fetch(`status.json?${query}`, { signal: gone.signal, cache: 'no-store' });
    return response.ok ? /** @type {StatusDocument} */ (await response.json()) : undefined;
  } catch {
    return undefined;
  } finally {
    callOff();
  }
}
