import { SessionBroker } from '@session-broker/client';

console.log(SessionBroker.name);
