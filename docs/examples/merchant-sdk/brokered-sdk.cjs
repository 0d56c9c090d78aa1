// brokered-sdk.cjs
const { answerLost, toGatewaySession } = require('@session-broker/client');

/** The SDK could not be made or called, and nothing was sent to the bank; `cause` says why. */
class SdkNotCalled extends Error {
  name = 'SdkNotCalled';
}

/** Runs one operation: `withSdk(broker, newSdk, (sdk) => sdk.createRefund(refund))`. */
const withSdk = (broker, newSdk, operation) => {
  let sessionsGiven = 0;
  return broker
    .withSession((session) => {
      try {
        const sdk = newSdk();
        if (typeof sdk.auth.authorize !== 'function' || typeof sdk.encryption.decrypt !== 'function') {
          throw new TypeError('the SDK has no auth.authorize, or no encryption.decrypt');
        }
        sdk.auth.authorize = async (settings) => {
          sessionsGiven += 1;
          return { ...settings, ...toGatewaySession(session) };
        };
        sdk.encryption.decrypt = async (jwe) => JSON.parse(await broker.decryptText(jwe));
        return operation(sdk);
      } catch (cause) {
        if (sessionsGiven > 0) throw cause; // with a session the SDK may have sent something
        throw new SdkNotCalled(`nothing was sent to the bank: ${String(cause)}`, { cause });
      }
    })
    .catch((error) => {
      if (error instanceof SdkNotCalled) throw error;
      return answerLost(error); // outside, since withSession itself looks at what the SDK throws
    });
};

module.exports = { SdkNotCalled, withSdk };
