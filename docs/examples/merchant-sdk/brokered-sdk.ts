// brokered-sdk.ts
import { answerLost, AnswerUnopened, SessionBrokerError, toGatewaySession } from '@session-broker/client';
import type { Session, SessionBroker } from '@session-broker/client';

/** How long one run of an operation may take; longer than the gateway takes. */
const LIMIT_MS = 45_000;

const NO_OBJECT =
  'The gateway has answered, so that the bank has the request, but what was opened is no JSON object. Send it under no other merchantRequestId';

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

function brokered<Sdk extends MerchantSdk>(sdk: Sdk, broker: SessionBroker, session: () => Session): Sdk {
  if (typeof sdk.auth.authorize !== 'function' || typeof sdk.encryption.decrypt !== 'function') {
    throw new TypeError('the SDK has no auth.authorize, or no encryption.decrypt');
  }
  // The same session even if the SDK asks for another after a 401: its retry would send what was sealed to the old key.
  sdk.auth.authorize = async (settings) => ({ ...settings, ...toGatewaySession(session()) });
  sdk.encryption.decrypt = async (jwe) => objectIn(await broker.decryptText(jwe));
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
  let sessionsGiven = 0;
  const answered = broker.withSession((session) => {
    const limit = new AbortController();
    const given = (): Session => {
      limit.signal.throwIfAborted(); // nobody is waiting any more for what the SDK would send
      sessionsGiven += 1;
      return session;
    };
    return withinLimit(operation(brokered(newSdk(), broker, given)), limit);
  });
  // Outside withSession, which itself looks at what the SDK throws.
  return answered.catch((error: unknown) => {
    // Without a session, the SDK has nothing that the gateway accepts; with one, it may have sent something.
    if (sessionsGiven > 0 || error instanceof SessionBrokerError) return answerLost(error);
    throw new SdkNotCalled(`nothing was sent to the bank: ${String(error)}`, { cause: error });
  });
}
