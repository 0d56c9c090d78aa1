export {
  SessionBrokerModule,
  sessionBrokerToken,
  type NestDynamicModule,
  type NestToken,
  type SessionBrokerAsyncOptions,
} from '../nest.js';
