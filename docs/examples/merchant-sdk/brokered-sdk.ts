// brokered-sdk.ts
import { answerLost, type Session, type SessionBroker, toGatewaySession } from '@session-broker/client';

/** How long one run of an operation may take; longer than the gateway does. */
const LIMIT_MS = 45_000;

/** What matters of the SDK here. Where yours has other names, this and `brokered` are the place. */
export interface MerchantSdk {
  readonly auth: { authorize(settings: object): Promise<object> };
  readonly encryption: { decrypt(jwe: string, privateKey: object): Promise<unknown> };
}

/** The SDK could not be made or called, and nothing was sent to the bank; `cause` says why. */
export class SdkNotCalled extends Error {
  override readonly name = 'SdkNotCalled';
}

function brokered<Sdk extends MerchantSdk>(sdk: Sdk, broker: SessionBroker, session: () => Session): Sdk {
  if (typeof sdk.auth.authorize !== 'function' || typeof sdk.encryption.decrypt !== 'function') {
    throw new TypeError('the SDK has no auth.authorize, or no encryption.decrypt');
  }
  // Also when the SDK asks for another one after a 401: its own repetition would send what was sealed to the old key.
  sdk.auth.authorize = async (settings) => ({ ...settings, ...toGatewaySession(session()) });
  sdk.encryption.decrypt = async (jwe) => JSON.parse(await broker.decryptText(jwe)) as unknown;
  return sdk;
}

/** Waits for the operation no longer than that. How it ends afterwards is ignored, so that it ends no process. */
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
      limit.signal.throwIfAborted(); // nobody waits any more for what the SDK would send
      sessionsGiven += 1;
      return session;
    };
    try {
      return withinLimit(operation(brokered(newSdk(), broker, given)), limit);
    } catch (cause) {
      if (sessionsGiven > 0) throw cause; // with a session the SDK may have sent something
      throw new SdkNotCalled(`nothing was sent to the bank: ${String(cause)}`, { cause });
    }
  });
  // Outside, since withSession itself looks at what the SDK throws.
  return answered.catch((error: unknown) => {
    if (error instanceof SdkNotCalled) throw error;
    const hasNoMethod = error instanceof TypeError && error.message.endsWith(' is not a function');
    if (!hasNoMethod || sessionsGiven > 0) return answerLost(error);
    throw new SdkNotCalled(`nothing was sent to the bank: ${String(error)}`, { cause: error });
  });
}
