// brokered-sdk.cjs
const { answerLost, toGatewaySession } = require('@session-broker/client');

/** How long one run of an operation may take; longer than the gateway does. */
const LIMIT_MS = 45_000;

/** The SDK could not be made or called, and nothing was sent to the bank; `cause` says why. */
class SdkNotCalled extends Error {
  name = 'SdkNotCalled';
}

/** Waits for the operation no longer than that. How it ends afterwards is ignored, so that it ends no process. */
const withinLimit = (running, limit) => {
  const timeUp = new Promise((_answer, fail) => {
    limit.signal.addEventListener('abort', () => fail(limit.signal.reason));
  });
  const timer = setTimeout(() => limit.abort(new DOMException('no answer in time', 'TimeoutError')), LIMIT_MS);
  return Promise.race([running, timeUp]).finally(() => clearTimeout(timer));
};

/** Runs one operation: `withSdk(broker, newSdk, (sdk) => sdk.createRefund(refund))`. */
const withSdk = (broker, newSdk, operation) => {
  let sessionsGiven = 0;
  return broker
    .withSession((session) => {
      const limit = new AbortController();
      try {
        const sdk = newSdk();
        if (typeof sdk.auth.authorize !== 'function' || typeof sdk.encryption.decrypt !== 'function') {
          throw new TypeError('the SDK has no auth.authorize, or no encryption.decrypt');
        }
        sdk.auth.authorize = async (settings) => {
          limit.signal.throwIfAborted(); // nobody waits any more for what the SDK would send
          sessionsGiven += 1;
          return { ...settings, ...toGatewaySession(session) };
        };
        sdk.encryption.decrypt = async (jwe) => JSON.parse(await broker.decryptText(jwe));
        return withinLimit(operation(sdk), limit);
      } catch (cause) {
        if (sessionsGiven > 0) throw cause; // with a session the SDK may have sent something
        throw new SdkNotCalled(`nothing was sent to the bank: ${String(cause)}`, { cause });
      }
    })
    .catch((error) => {
      if (error instanceof SdkNotCalled) throw error;
      const hasNoMethod = error instanceof TypeError && error.message.endsWith(' is not a function');
      // Outside, since withSession itself looks at what the SDK throws.
      if (!hasNoMethod || sessionsGiven > 0) return answerLost(error);
      throw new SdkNotCalled(`nothing was sent to the bank: ${String(error)}`, { cause: error });
    });
};

module.exports = { SdkNotCalled, withSdk };
