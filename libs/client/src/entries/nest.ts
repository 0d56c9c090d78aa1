export {
  SessionBrokerModule,
  sessionBrokerHealthToken,
  sessionBrokerToken,
  type SessionBrokerAsyncOptions,
  type SessionBrokerModuleOptions,
} from '../nest/session-broker-module.js';
export { SessionBrokerHealth, type SessionBrokerHealthResult } from '../nest/session-broker-health.js';
export type { NestDynamicModule, NestProvider, NestToken } from '../nest/nest-types.js';
