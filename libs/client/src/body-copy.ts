import { orAborted } from './abort.js';
import { Deadline } from './deadline.js';
import type { FetchBody } from './fetch.js';
import { discard } from './json.js';
import type { Time } from './time.js';

/** The gateway's errors are a few hundred octets. */
export const MAX_BODY_OCTETS = 65_536;
/** A body that does not come says nothing; who waits for it is a payment. */
const MAX_READ_MS = 2_000;

/**
 * The beginning of an answer's body, read from a copy: the answer itself can still be read by its owner.
 * @returns what could be read, which may be nothing; never throws
 */
export async function bodyCopyOf(answer: object, time: Time): Promise<string> {
  const deadline = new Deadline(time, { ms: MAX_READ_MS, parents: [], background: true });
  try {
    return await readStart((answer as { clone(): { body: FetchBody | null } }).clone().body, deadline.signal);
  } catch {
    // Read by somebody meanwhile, broken off, too slow, or no answer of a fetch at all.
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
    // Cancelling a copy ends only when its original ends too, so that nobody waits for it.
    discard(reader);
  }
}
