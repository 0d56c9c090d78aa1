// brokered-sdk.ts
import { answerLost, AnswerLost, AnswerUnopened, deadSessionCode } from '@session-broker/client';
import { SessionRejected } from '@session-broker/client';
import type { Session, SessionBroker } from '@session-broker/client';

/** How long one run of an operation may take; longer than the gateway takes. */
const LIMIT_MS = 45_000;

const NO_OBJECT =
  'The gateway has answered, so that the bank has the request, but what was opened is no JSON object. Send it under no other merchantRequestId';
const NOBODY_KNOWS =
  'Nobody knows whether the bank has the request. Keep the merchantRequestId and send it under no other: lookUp, a notification or the bank tells what became of it';

/** The parts of the SDK that matter here. If yours has other names, change this and `brokered`. */
export interface MerchantSdk {
  readonly auth: { authorize(settings: object): Promise<object> };
  readonly encryption: { decrypt(jwe: string, privateKey: object): Promise<unknown> };
}

/** It failed before the SDK had a session, so nothing was sent to the bank; `cause` says why. */
export class SdkNotCalled extends Error {
  override readonly name = 'SdkNotCalled';
}

/** What an answer contains. If that is no object, the bank has answered all the same; no message quotes it. */
function objectIn(text: string): unknown {
  try {
    const opened: unknown = JSON.parse(text);
    if (typeof opened === 'object' && opened !== null && !Array.isArray(opened)) return opened;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new AnswerUnopened('answer_unopened', NO_OBJECT);
}

/** A session in the gateway's own form, with all three names that SDKs have for its end, which none reads too late. */
function gatewayForm({ authToken, refreshToken, deviceId, serverPublic, expiresAt }: Session): object {
  const [seconds, milliseconds] = new Date(expiresAt).toISOString().replace('T', ' ').replace('Z', '').split('.');
  const end = `${seconds}.${milliseconds}+00:00`;
  const ends = { tokenExpirationDateTime: `${seconds}.0${milliseconds} +0000`, tokenExpiration: end };
  return { authToken, refreshToken, deviceId, serverPublic, ...ends, sessionExpiration: end };
}

/** Reads what the SDK has thrown. This one keeps what it wraps, the answer's body as message, and its status there. */
function readError(error: unknown): {
  readonly wrapped: unknown;
  readonly body: string;
  readonly status: number | undefined;
} {
  const { originalError: wrapped = error } = (error ?? {}) as { originalError?: unknown };
  const { message = '', originalError } = (wrapped ?? {}) as { message?: string; originalError?: { status?: number } };
  return { wrapped, body: message, status: originalError?.status };
}

function parsed(body: string): { readonly msgCode?: unknown } {
  try {
    return (JSON.parse(body) ?? {}) as object;
  } catch {
    return {}; // a page, or nothing
  }
}

/** Throws what it means for the payment that the SDK has failed once it had a session. */
function explain(error: unknown): never {
  const { wrapped, body, status } = readError(error);
  if (status === undefined) return answerLost(wrapped);
  const said = parsed(body);
  const dead = deadSessionCode(said, status);
  if (dead !== undefined) throw new SessionRejected(dead, { cause: error });
  const isRefusal = typeof said.msgCode === 'string' && said.msgCode !== 'b_unknown_error' && status < 500;
  if (isRefusal) throw error;
  throw new AnswerLost('answer_unusable', `The gateway answered ${status}. ${NOBODY_KNOWS}`, { cause: error });
}

function brokered<Sdk extends MerchantSdk>(sdk: Sdk, broker: SessionBroker, session: () => Session): Sdk {
  if (typeof sdk.auth.authorize !== 'function' || typeof sdk.encryption.decrypt !== 'function') {
    throw new TypeError('the SDK has no auth.authorize, or no encryption.decrypt');
  }
  // The same session even if the SDK asks for another after a 401: its retry would send what was sealed to the old key.
  sdk.auth.authorize = async (settings) => ({ ...settings, ...gatewayForm(session()) });
  sdk.encryption.decrypt = async (jwe) => objectIn(new TextDecoder().decode(await broker.decrypt(jwe)));
  return sdk;
}

/** Waits for the operation up to LIMIT_MS. Its outcome after that is ignored, so that it cannot end the process. */
function withinLimit<Answer>(running: Promise<Answer>, limit: AbortController): Promise<Answer> {
  const timeUp = new Promise<never>((_answer, fail) => {
    limit.signal.addEventListener('abort', () => fail(limit.signal.reason as Error));
  });
  const timer = setTimeout(() => limit.abort(new DOMException('no answer in time', 'TimeoutError')), LIMIT_MS);
  return Promise.race([running, timeUp]).finally(() => clearTimeout(timer));
}

/** Runs one operation: `withSdk(broker, newSdk, (sdk) => sdk.createRefund(refund))`. */
export function withSdk<Sdk extends MerchantSdk, Answer>(
  broker: SessionBroker,
  newSdk: () => Sdk,
  operation: (sdk: Sdk) => Promise<Answer>,
): Promise<Answer> {
  return broker.withSession(async (session) => {
    const limit = new AbortController();
    let isGiven = false;
    const given = (): Session => {
      limit.signal.throwIfAborted(); // nobody is waiting any more for what the SDK would send
      isGiven = true;
      return session;
    };
    try {
      return await withinLimit(operation(brokered(newSdk(), broker, given)), limit);
    } catch (error) {
      // Without a session, the SDK has nothing that the gateway accepts; with one, it may have sent something.
      if (isGiven) return explain(error);
      throw new SdkNotCalled(`nothing was sent to the bank: ${String(error)}`, { cause: error });
    }
  });
}
