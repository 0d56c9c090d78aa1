import { isJsonObject, type JsonObject } from '../json.js';
import { importPoint, type Point, sealedTo } from '../jwe.js';
import { type FakeAnswer, NO_STORE, problem, unavailable } from './fake-answers.js';
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
    const { plaintext, encoding, recipient } = body as JsonObject;
    if (typeof plaintext !== 'string')
      return problem(400, 'invalid_request', { detail: 'plaintext: must be a string' });
    const session = this.#sessions.current;
    if (recipient === undefined && session === undefined) return unavailable();
    const key = await importPoint((recipient ?? session?.serverPublic) as Point);
    const jwe = await sealedTo(key, Buffer.from(plaintext, encoding === 'base64' ? 'base64' : 'utf8'));
    const generation = recipient === undefined ? { generation: session?.generation } : {};
    return { status: 200, headers: NO_STORE, document: { jwe, ...generation } };
  }

  async decrypt(body: unknown): Promise<FakeAnswer> {
    const { jwe, encoding } = body as JsonObject;
    if (typeof jwe !== 'string') return problem(400, 'invalid_request', { detail: 'jwe: must be a string' });
    if (!COMPACT.test(jwe)) return problem(400, 'jwe_malformed');
    const octets = await this.#sessions.clientKey.open(jwe);
    if (octets === undefined) return problem(422, 'jwe_not_opened');
    const text = Buffer.from(octets).toString();
    const isText = encoding !== 'base64' && Buffer.from(text).equals(octets);
    const document = isText
      ? { plaintext: text, encoding: 'utf8' }
      : { plaintext: Buffer.from(octets).toString('base64'), encoding: 'base64' };
    return { status: 200, headers: NO_STORE, document };
  }

  async openNotification(body: unknown): Promise<FakeAnswer> {
    const { body: received } = body as JsonObject;
    if (typeof received !== 'string') return problem(400, 'invalid_request', { detail: 'body: must be a string' });
    const opened = await this.#sessions.clientKey.open(received);
    const content = contentOf(opened === undefined ? received : Buffer.from(opened).toString());
    const operation = isJsonObject(content?.['operation']) ? content['operation'] : content;
    const isOrder = operation !== content;
    if (!hasAll(operation, OF_OPERATION) || (isOrder && !hasAll(content, OF_ORDER))) {
      return problem(422, 'notification_invalid');
    }
    const kind = isOrder ? 'hosted_page' : 'direct_payment';
    return { status: 200, headers: NO_STORE, document: { kind, sealed: opened !== undefined, content } };
  }

  clientKeyAnswer(): FakeAnswer {
    const { publicJwk, thumbprint } = this.#sessions.clientKey;
    return { status: 200, document: { merchant: this.#sessions.merchant, jwk: publicJwk, thumbprint } };
  }

  sealedAnswer(text: string): Promise<string> {
    return this.#sessions.clientKey.seal(text);
  }

  async openedByGateway(jwe: string, generation?: number): Promise<string | undefined> {
    const all = this.#sessions.serverKeys;
    for (const key of generation === undefined ? all : all.slice(generation - 1, generation)) {
      const octets = await key.open(jwe);
      if (octets !== undefined) return Buffer.from(octets).toString();
    }
    return undefined;
  }
}

function hasAll(content: JsonObject | undefined, names: readonly string[]): content is JsonObject {
  return content !== undefined && names.every((name) => content[name] !== undefined);
}

function contentOf(text: string): JsonObject | undefined {
  try {
    const content: unknown = JSON.parse(text);
    return isJsonObject(content) ? content : undefined;
  } catch {
    // Anything that is not a notification is answered as an invalid one.
    return undefined;
  }
}
