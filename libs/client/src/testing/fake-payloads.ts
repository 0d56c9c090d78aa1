import { isJsonObject, type JsonObject, parsedJson } from '../json.js';
import { importPoint, type Point, sealedTo } from '../jwe.js';
import { answered, type FakeAnswer, invalid, problem, unavailable } from './fake-answers.js';
import type { FakeSessions } from './fake-sessions.js';

/** Five parts, of which the second and the fourth may be empty. */
const COMPACT = /^[\w-]+\.[\w-]*\.[\w-]+\.[\w-]*\.[\w-]+$/;
/** The members that make it a notification, in an operation and in an order. */
const OF_OPERATION = ['ecomOperationId', 'type', 'status', 'coinAmount', 'merchantId'];
const OF_ORDER = ['ecomOrderId', 'coinAmount', 'merchantId', 'hppOrderId', 'merchantRequestId', 'orderStatus'];

/** Seals and opens payloads for the fake broker, with keys made for it. */
export class FakePayloads {
  readonly #sessions: FakeSessions;

  constructor(sessions: FakeSessions) {
    this.#sessions = sessions;
  }

  async encrypt(body: unknown): Promise<FakeAnswer> {
    const { plaintext, recipient } = body as JsonObject;
    if (typeof plaintext !== 'string') return invalid('plaintext: must be a string');
    const session = this.#sessions.current;
    if (recipient === undefined && session === undefined) return unavailable();
    const key = await importPoint((recipient ?? session?.serverPublic) as Point);
    const jwe = await sealedTo(key, Buffer.from(plaintext));
    return answered(recipient === undefined ? { jwe, generation: session?.generation } : { jwe });
  }

  async decrypt(body: unknown): Promise<FakeAnswer> {
    const { jwe } = body as JsonObject;
    if (typeof jwe !== 'string') return invalid('jwe: must be a string');
    if (!COMPACT.test(jwe)) return problem(400, 'jwe_malformed');
    const octets = await this.#sessions.clientKey.open(jwe);
    if (octets === undefined) return problem(422, 'jwe_not_opened');
    // All that was sealed here is text.
    return answered({ plaintext: octets.toString(), encoding: 'utf8' });
  }

  async openNotification(body: unknown): Promise<FakeAnswer> {
    const { body: received } = body as JsonObject;
    if (typeof received !== 'string') return invalid('body: must be a string');
    const opened = await this.#sessions.clientKey.open(received);
    const content = parsedJson(opened?.toString() ?? received);
    const order = isJsonObject(content) ? content : {};
    const { operation } = order;
    const isOrder = isJsonObject(operation);
    if (!hasAll(isOrder ? operation : order, OF_OPERATION) || (isOrder && !hasAll(order, OF_ORDER))) {
      return problem(422, 'notification_invalid');
    }
    return answered({ kind: isOrder ? 'hosted_page' : 'direct_payment', sealed: opened !== undefined, content });
  }

  clientKeyAnswer(): FakeAnswer {
    const { publicJwk, thumbprint } = this.#sessions.clientKey;
    return { status: 200, document: { merchant: this.#sessions.merchant, jwk: publicJwk, thumbprint } };
  }

  async openedByGateway(jwe: string, generation?: number): Promise<string | undefined> {
    const all = this.#sessions.serverKeys;
    for (const key of generation === undefined ? all : all.slice(generation - 1, generation)) {
      const octets = await key.open(jwe);
      if (octets !== undefined) return octets.toString();
    }
    return undefined;
  }
}

function hasAll(content: JsonObject, names: readonly string[]): boolean {
  return names.every((name) => content[name] !== undefined);
}
