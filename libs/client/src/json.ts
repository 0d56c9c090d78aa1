import { ProtocolError } from './errors.js';

export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

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
  } catch {
    // With a text, the parser can fail in only one way.
    return undefined;
  }
}
