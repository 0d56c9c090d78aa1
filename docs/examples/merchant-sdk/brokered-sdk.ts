// brokered-sdk.ts
import { answerLost, type Session, type SessionBroker, toGatewaySession } from '@session-broker/client';

/** What matters of the SDK here. Where yours has other names, these two and the two lines below are the place. */
export interface MerchantSdk {
  readonly auth: { authorize(settings: object): Promise<object> };
  readonly encryption: { decrypt(jwe: string, privateKey: object): Promise<unknown> };
}

function brokered<Sdk extends MerchantSdk>(sdk: Sdk, broker: SessionBroker, session: Session): Sdk {
  // Also when the SDK asks for another one after a 401: its own repetition would send what was sealed to the old key.
  sdk.auth.authorize = async (settings) => ({ ...settings, ...toGatewaySession(session) });
  sdk.encryption.decrypt = async (jwe) => JSON.parse(await broker.decryptText(jwe)) as unknown;
  return sdk;
}

/** Runs one operation: `withSdk(broker, newSdk, (sdk) => sdk.createRefund(refund))`. */
export function withSdk<Sdk extends MerchantSdk, Answer>(
  broker: SessionBroker,
  newSdk: () => Sdk,
  operation: (sdk: Sdk) => Promise<Answer>,
): Promise<Answer> {
  const answered = broker.withSession((session) => operation(brokered(newSdk(), broker, session)));
  // Outside, since withSession itself looks at what the SDK throws.
  return answered.catch((error: unknown) => answerLost(error));
}
