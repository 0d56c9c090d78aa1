import type { Clock } from '#libs/clock';
import type { CallCeiling } from './call-ceiling.js';
import type { EarlyDeaths } from './early-deaths.js';
import type { FailureBoard } from './failure-board.js';
import type { GatewayLoad } from './gateway-load.js';
import type { GatewayRecovery } from './gateway-recovery.js';
import type { Grace } from './grace.js';
import type { Handovers } from './handovers.js';
import type { HeldSessions } from './held-sessions.js';
import type { MomentWatches } from './moment-watches.js';
import type { Merchants } from './ports/merchants.js';
import type { SessionEvents } from './ports/session-events.js';
import type { SessionGateway } from './ports/session-gateway.js';
import type { SessionStore } from './ports/session-store.js';
import type { Tracing } from './ports/tracing.js';
import type { Settlements } from './settlements.js';
import type { StoreSilence } from './store-silence.js';
import type { UnpublishedSessions } from './unpublished-sessions.js';

/**
 * What the parts of one replica share: the ports, and the state that several of them look at. Each part declares what
 * it uses of it.
 */
export interface ReplicaContext {
  /** Names this process in leases; no two processes share one, nor does one process after a restart. */
  readonly owner: string;
  readonly merchants: Merchants;
  readonly store: SessionStore;
  readonly gateway: SessionGateway;
  readonly events: SessionEvents;
  readonly tracing: Tracing;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly held: HeldSessions;
  readonly unpublished: UnpublishedSessions;
  readonly failures: FailureBoard;
  readonly earlyDeaths: EarlyDeaths;
  readonly watches: MomentWatches;
  readonly settlements: Settlements;
  readonly silence: StoreSilence;
  readonly grace: Grace;
  readonly handovers: Handovers;
  readonly ceiling: CallCeiling;
  readonly load: GatewayLoad;
  readonly recovery: GatewayRecovery;
}
