// brokered-sdk.cjs
const { answerLost, toGatewaySession } = require('@session-broker/client');

/** Runs one operation: `withSdk(broker, newSdk, (sdk) => sdk.createRefund(refund))`. */
exports.withSdk = (broker, newSdk, operation) =>
  broker
    .withSession((session) => {
      const sdk = newSdk();
      sdk.auth.authorize = async (settings) => ({ ...settings, ...toGatewaySession(session) });
      sdk.encryption.decrypt = async (jwe) => JSON.parse(await broker.decryptText(jwe));
      return operation(sdk);
    })
    .catch((error) => answerLost(error)); // outside, since withSession itself looks at what the SDK throws
