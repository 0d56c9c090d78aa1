import type { SessionSettings } from '#libs/session';
import type { RedisConnection } from '#libs/store';
import type { MatrixMerchant } from './matrix-merchant.js';
import type { Served } from './serving-record.js';

export interface FleetOptions {
  readonly merchants: readonly MatrixMerchant[];
  readonly gatewayUrl: string;
  /** Where each replica finds Redis. */
  readonly redis: (replica: number) => Promise<RedisConnection>;
  /** Read again at each use, as after a change of the configuration. */
  readonly settings: () => MatrixSettings;
}

/** Those settings of a merchant that the cases change. */
export type MatrixSettings = Pick<SessionSettings, 'gatewayTimeoutMs' | 'budget' | 'fallbackLifetimeMs'>;

/** Replicas of the broker, all for the merchant `shop`; each keeps its number for good. */
export interface Fleet {
  readonly inService: readonly number[];
  /** How long a consumer waits between two reads. */
  readonly readEveryMs: number;
  /** What the replica hands to a consumer now; undefined if it has nothing to hand out. */
  served(replica: number): Promise<Served | undefined>;
  /** When the session of the replica is due, in milliseconds of its wall clock. */
  renewAtMs(replica: number): Promise<number | undefined>;
  /** Reports to the replica that the gateway refuses the generation. @returns whether it answered with a newer one */
  report(replica: number, generation: number): Promise<boolean>;
  /** What happened in the replicas, for finding the cause of a row. */
  trace(): readonly string[];
  /** Starts one more. @returns its number */
  add(): Promise<number>;
  close(): Promise<void>;
}
