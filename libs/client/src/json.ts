import { orAborted } from './deadline.js';
import { ProtocolError } from './errors.js';
import type { FetchBody } from './fetch.js';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @throws ProtocolError which never quotes the text: it may hold a session */
export function parseJsonObject(text: string): JsonObject {
  const value = parsedJson(text);
  if (isJsonObject(value)) return value;
  throw new ProtocolError('answer_invalid', "This answer is not the broker's, it is no JSON object: is the URL right?");
}

/** @returns undefined for a text that is not JSON: the parser's message quotes what it read, so it goes no further */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The broker's largest answer is an opened payload of 64 KiB in JSON, at worst six characters per octet. */
const MAX_ANSWER_BYTES = 524_288;

/** @throws ProtocolError when it is longer than any answer of the broker */
export async function readText(body: FetchBody | null, signal: AbortSignal): Promise<string> {
  const { text, isWhole } = await readStart(body, signal, MAX_ANSWER_BYTES);
  if (!isWhole) throw new ProtocolError('answer_too_large', 'The answer of the broker is too large');
  return text;
}

/** Reads a UTF-8 body until there is more of it than `maxOctets`. */
export async function readStart(
  body: FetchBody | null,
  signal: AbortSignal,
  maxOctets: number,
): Promise<{ readonly text: string; readonly isWhole: boolean }> {
  if (body === null) return { text: '', isWhole: true };
  const reader = body.getReader();
  const decoder = new TextDecoder('utf-8');
  let text = '';
  try {
    for (let octets = 0; octets <= maxOctets;) {
      const { done, value } = await orAborted(reader.read(), signal);
      if (done) return { text: text + decoder.decode(), isWhole: true };
      octets += value?.byteLength ?? 0;
      text += decoder.decode(value, { stream: true });
    }
    return { text, isWhole: false };
  } finally {
    discard(reader);
  }
}

/** Cancels a body that nobody will read, so that its connection is freed; of a copy, only when the original ends. */
export function discard(body: { cancel(): Promise<void> } | null): void {
  // A body that has failed by itself cannot be cancelled, and needs no cancelling.
  body?.cancel().catch(() => undefined);
}
