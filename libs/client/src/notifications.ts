import type { Attempts } from './attempts.js';
import type { BrokerHttp } from './broker-http.js';
import { ProtocolError } from './errors.js';
import type { FetchAnswer } from './fetch.js';
import { isJsonObject, type JsonObject } from './json.js';
import { requestIdOf } from './problem.js';

/** A notification as received at the URL that the payment named. */
export interface ReceivedNotification {
  /** Names in any case: pass `request.headers` of Node.js, or `Object.fromEntries(request.headers)`. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as text, not parsed. */
  readonly body: string;
}

/** What a notification says. Sealed or not, nothing in it proves who sent it: ask the gateway before shipping goods. */
export interface OpenedNotification {
  /** `hosted_page`: an order with its `operation`. `direct_payment`: the members of an operation. */
  readonly kind: 'hosted_page' | 'direct_payment';
  /** Whether it came as a JWE rather than as plain JSON. */
  readonly sealed: boolean;
  /**
   * Whether a notification about the same operation and status was already opened within a day, by any replica;
   * undefined if that is not known. It does not mean that whoever opened it has acted on it.
   */
  readonly repeated: boolean | undefined;
  /** The gateway's own members, such as `operation` with its `status`. */
  readonly content: Readonly<Record<string, unknown>>;
}

interface NotificationsParts {
  readonly http: BrokerHttp;
  readonly attempts: Attempts;
}

/** Has the broker open notifications, as only the broker holds the merchant's private key. */
export class Notifications {
  readonly #parts: NotificationsParts;

  constructor(parts: NotificationsParts) {
    this.#parts = parts;
  }

  /** @throws SessionBrokerError; CallAborted when the signal aborts */
  open({ headers, body }: ReceivedNotification, signal?: AbortSignal): Promise<OpenedNotification> {
    const { http, attempts } = this.#parts;
    let tries = 0;
    return attempts.run(
      async (attempt) => {
        tries += 1;
        const call = { path: '/notifications/open', body: { headers, body }, signal: attempt };
        const { answer, document } = await http.json(call);
        const opened = readOpened(document, answer);
        // The earlier opening may have been an attempt of this very call whose answer was lost.
        return opened.repeated === true && tries > 1 ? { ...opened, repeated: undefined } : opened;
      },
      [signal],
    );
  }
}

function readOpened(document: JsonObject | undefined, answer: FetchAnswer): OpenedNotification {
  const { kind, sealed, repeated, content } = document ?? {};
  const isKnown = kind === 'hosted_page' || kind === 'direct_payment';
  if (!isKnown || typeof sealed !== 'boolean' || !isJsonObject(content)) {
    const facts = { status: answer.status, requestId: requestIdOf(answer) };
    throw new ProtocolError('answer_invalid', 'The broker answered with no notification', facts);
  }
  return { kind, sealed, repeated: typeof repeated === 'boolean' ? repeated : undefined, content };
}
