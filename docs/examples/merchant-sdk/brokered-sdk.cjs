// brokered-sdk.cjs
const { answerLost, AnswerUnopened, SessionBrokerError, toGatewaySession } = require('@session-broker/client');

/** How long one run of an operation may take; longer than the gateway takes. */
const LIMIT_MS = 45_000;

const NO_OBJECT =
  'The gateway has answered, so that the bank has the request, but what was opened is no JSON object. Send it under no other merchantRequestId';

/** It failed before the SDK had a session, so nothing was sent to the bank; `cause` says why. */
class SdkNotCalled extends Error {
  name = 'SdkNotCalled';
}

/** What an answer contains. If that is no object, the bank has answered all the same; no message quotes it. */
const objectIn = (text) => {
  try {
    const opened = JSON.parse(text);
    if (typeof opened === 'object' && opened !== null && !Array.isArray(opened)) return opened;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new AnswerUnopened('answer_unopened', NO_OBJECT);
};

/** Waits for the operation up to LIMIT_MS. Its outcome after that is ignored, so that it cannot end the process. */
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
      const sdk = newSdk();
      if (typeof sdk.auth.authorize !== 'function' || typeof sdk.encryption.decrypt !== 'function') {
        throw new TypeError('the SDK has no auth.authorize, or no encryption.decrypt');
      }
      sdk.auth.authorize = async (settings) => {
        limit.signal.throwIfAborted(); // nobody is waiting any more for what the SDK would send
        sessionsGiven += 1;
        return { ...settings, ...toGatewaySession(session) };
      };
      sdk.encryption.decrypt = async (jwe) => objectIn(await broker.decryptText(jwe));
      return withinLimit(operation(sdk), limit);
    })
    .catch((error) => {
      // Outside withSession, which itself looks at what the SDK throws. Without a session, the SDK has nothing that the
      // gateway accepts; with one, it may have sent something.
      if (sessionsGiven > 0 || error instanceof SessionBrokerError) return answerLost(error);
      throw new SdkNotCalled(`nothing was sent to the bank: ${String(error)}`, { cause: error });
    });
};

module.exports = { SdkNotCalled, withSdk };
