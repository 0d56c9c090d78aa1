import { orAborted } from './abort.js';
import { Deadline } from './deadline.js';
import type { FetchBody } from './fetch.js';
import { discard } from './json.js';
import type { Time } from './time.js';

/** The gateway's errors are a few hundred octets. */
export const MAX_BODY_OCTETS = 65_536;
/** A body that does not arrive tells us nothing, and a payment is waiting for it. */
const MAX_READ_MS = 2_000;

/**
 * The start of an answer's body, read from a copy so that the owner can still read the original.
 * @returns what could be read, possibly nothing; never throws
 */
export async function bodyCopyOf(answer: object, time: Time): Promise<string> {
  const deadline = new Deadline(time, { ms: MAX_READ_MS, parents: [], background: true });
  try {
    return await readStart((answer as { clone(): { body: FetchBody | null } }).clone().body, deadline.signal);
  } catch {
    // Already read by someone else, cut off, too slow, or not a fetch answer at all.
    return '';
  } finally {
    deadline.close();
  }
}

async function readStart(body: FetchBody | null, signal: AbortSignal): Promise<string> {
  if (body === null) return '';
  const reader = body.getReader();
  const decoder = new TextDecoder('utf-8');
  let text = '';
  try {
    for (let octets = 0; octets < MAX_BODY_OCTETS;) {
      const { done, value } = await orAborted(reader.read(), signal);
      if (done) return text + decoder.decode();
      octets += value?.byteLength ?? 0;
      text += decoder.decode(value, { stream: true });
    }
    return text;
  } finally {
    // Cancelling a copy completes only when the original ends too, so this does not wait for it.
    discard(reader);
  }
}
