export {
  aBudget,
  aClaim,
  aDeathReport,
  anIssuedSession,
  aPublication,
  aRecordedFailure,
  aServerPublicKey,
  aSession,
  hold,
  someSettings,
} from './builders.js';
export { aNow, effectIn, effectNames, granted, MINUTE, Play, resultOf, served } from './one-merchant.js';
export { eventually } from './eventually.js';
export { FakeClock } from './fake-clock.js';
export {
  describeSessionStoreContract,
  nextOf,
  type StoreUnderTest,
} from './session-store-contract/session-store-contract.js';
export { expectUnavailable, giveUp, lease, publishOnce, stateOf } from './session-store-contract/store-under-test.js';
export { FakeGateway, type GatewayAnswer } from './fake-gateway.js';
export { aSessionDocument, away, EventFeed, json, problem, ScriptedBroker } from './scripted-broker.js';
export { RecordedEvents } from './recorded-events.js';
export { LoopbackServer } from './loopback-server.js';
export { TcpProxy } from './tcp-proxy.js';
export { TestAuthority, type TestCertificate } from './test-certificates.js';
export { TestIssuer, type SigningAlgorithm } from './test-issuer.js';
export { LASTING_SESSION_MS, PATIENT_CALL_MS, PATIENT_GATEWAY, PATIENT_REDIS } from './patience.js';
export { freePort } from './free-port.js';
export { RedisProcess } from './redis-process.js';
export { encryptedRedis, startRedisCluster, startRedisSentinel } from './redis-topologies.js';
export { describeWith, toolPath, type Requirement } from './needed-tools.js';
export { endedAfterAll, endedAfterEach, startedWhole } from './started.js';
