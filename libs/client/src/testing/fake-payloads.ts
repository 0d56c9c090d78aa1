import { isJsonObject, type JsonObject, parsedJson } from '../json.js';
import { answered, type FakeAnswer, invalid, problem } from './fake-answers.js';
import type { FakeKey } from './fake-keys.js';

/** Five parts, of which the second and the fourth may be empty. */
const COMPACT = /^[\w-]+\.[\w-]*\.[\w-]+\.[\w-]*\.[\w-]+$/;
/** The members that make it a notification, in an operation and in an order. */
const OF_OPERATION = ['ecomOperationId', 'type', 'status', 'coinAmount', 'merchantId'];
const OF_ORDER = ['ecomOrderId', 'coinAmount', 'merchantId', 'hppOrderId', 'merchantRequestId', 'orderStatus'];

/** What the fake broker answers to a JWE to its merchant's key. */
export async function decrypted(clientKey: FakeKey, body: unknown): Promise<FakeAnswer> {
  const { jwe } = body as JsonObject;
  if (typeof jwe !== 'string') return invalid('jwe: must be a string');
  if (!COMPACT.test(jwe)) return problem(400, 'jwe_malformed');
  const octets = await clientKey.open(jwe);
  if (octets === undefined) return problem(422, 'jwe_not_opened');
  // All that was sealed here is text.
  return answered({ plaintext: octets.toString(), encoding: 'utf8' });
}

/** What it answers to a notification, sealed or not. */
export async function openedNotification(clientKey: FakeKey, body: unknown): Promise<FakeAnswer> {
  const { body: received } = body as JsonObject;
  if (typeof received !== 'string') return invalid('body: must be a string');
  const opened = await clientKey.open(received);
  const content = parsedJson(opened?.toString() ?? received);
  const order = isJsonObject(content) ? content : {};
  const { operation } = order;
  const isOrder = isJsonObject(operation);
  if (!hasAll(isOrder ? operation : order, OF_OPERATION) || (isOrder && !hasAll(order, OF_ORDER))) {
    return problem(422, 'notification_invalid');
  }
  return answered({ kind: isOrder ? 'hosted_page' : 'direct_payment', sealed: opened !== undefined, content });
}

function hasAll(content: JsonObject, names: readonly string[]): boolean {
  return names.every((name) => content[name] !== undefined);
}
