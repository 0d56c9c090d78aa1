// brokered-sdk.cjs
const { answerLost, AnswerLost, AnswerUnopened, deadSessionCode, SessionRejected } = require('@session-broker/client');

/** How long one run of an operation may take; longer than the gateway takes. */
const LIMIT_MS = 45_000;

const NO_OBJECT =
  'The gateway has answered, so that the bank has the request, but what was opened is no JSON object. Send it under no other merchantRequestId';
const NOBODY_KNOWS =
  'Nobody knows whether the bank has the request. Keep the merchantRequestId and send it under no other: lookUp, a notification or the bank tells what became of it';

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

/** A session in the gateway's own form, with all three names that SDKs have for its end, which none reads too late. */
const gatewayForm = ({ authToken, refreshToken, deviceId, serverPublic, expiresAt }) => {
  const [seconds, milliseconds] = new Date(expiresAt).toISOString().replace('T', ' ').replace('Z', '').split('.');
  const end = `${seconds}.${milliseconds}+00:00`;
  const ends = { tokenExpirationDateTime: `${seconds}.0${milliseconds} +0000`, tokenExpiration: end };
  return { authToken, refreshToken, deviceId, serverPublic, ...ends, sessionExpiration: end };
};

/** Reads what the SDK has thrown. This one keeps what it wraps, the answer's body as message, and its status there. */
const readError = (error) => {
  const { originalError: wrapped = error } = error ?? {};
  const { message = '', originalError } = wrapped ?? {};
  return { wrapped, body: message, status: originalError?.status };
};

const parsed = (body) => {
  try {
    return JSON.parse(body) ?? {};
  } catch {
    return {}; // a page, or nothing
  }
};

/** Throws what it means for the payment that the SDK has failed once it had a session. */
const explain = (error) => {
  const { wrapped, body, status } = readError(error);
  if (status === undefined) return answerLost(wrapped);
  const said = parsed(body);
  const dead = deadSessionCode(said, status);
  if (dead !== undefined) throw new SessionRejected(dead, { cause: error });
  const isRefusal = typeof said.msgCode === 'string' && said.msgCode !== 'b_unknown_error' && status < 500;
  if (isRefusal) throw error;
  throw new AnswerLost('answer_unusable', `The gateway answered ${status}. ${NOBODY_KNOWS}`, { cause: error });
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
const withSdk = (broker, newSdk, operation) =>
  broker.withSession(async (session) => {
    const limit = new AbortController();
    let isGiven = false;
    try {
      const sdk = newSdk();
      if (typeof sdk.auth.authorize !== 'function' || typeof sdk.encryption.decrypt !== 'function') {
        throw new TypeError('the SDK has no auth.authorize, or no encryption.decrypt');
      }
      sdk.auth.authorize = async (settings) => {
        limit.signal.throwIfAborted(); // nobody is waiting any more for what the SDK would send
        isGiven = true;
        return { ...settings, ...gatewayForm(session) };
      };
      sdk.encryption.decrypt = async (jwe) => objectIn(new TextDecoder().decode(await broker.decrypt(jwe)));
      return await withinLimit(operation(sdk), limit);
    } catch (error) {
      // Without a session, the SDK has nothing that the gateway accepts; with one, it may have sent something.
      if (isGiven) return explain(error);
      throw new SdkNotCalled(`nothing was sent to the bank: ${String(error)}`, { cause: error });
    }
  });

module.exports = { SdkNotCalled, withSdk };
