export {
  SessionBrokerModule,
  sessionBrokerHealthToken,
  sessionBrokerToken,
  type SessionBrokerAsyncOptions,
  type NestDynamicModule,
  type NestProvider,
  type NestToken,
  type SessionBrokerModuleOptions,
} from '../nest/session-broker-module.js';
export { SessionBrokerHealth, type SessionBrokerHealthResult } from '../nest/session-broker-health.js';
