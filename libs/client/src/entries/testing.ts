export { FakeBroker, type FakeBrokerOptions, type FakeFailure } from '../testing/fake-broker.js';
export { FakeGateway, type FakeOperation, type FakeOutcome, type FakeGatewayRequest } from '../testing/fake-gateway.js';
export type { FakeRequest, FakeRoute } from '../testing/fake-answers.js';
export type { FakeRejection } from '../testing/fake-sessions.js';
export { aNotification, aSession, type SessionWish } from '../testing/fixtures.js';
