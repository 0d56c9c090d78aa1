import type { BrokerHttp } from './broker-http.js';
import type { Settings } from './options.js';
import type { SessionShelf } from './session-shelf.js';

/** What the parts of one client share. */
export interface ClientParts extends Settings {
  readonly http: BrokerHttp;
  readonly shelf: SessionShelf;
  /** Aborts when the client is closed. */
  readonly closed: AbortSignal;
}
