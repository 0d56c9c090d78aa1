import { Inject, Injectable } from '@nestjs/common';
import { GatewayConnections } from '#libs/gateway';
import type { SessionStore } from '#libs/session';
import { RetiredKeys } from './retired-keys.js';

/** The name under which Nest injects the store that the configuration names. */
export const STORE = Symbol('store');

/** The connections of the replica, closed once they are no longer needed. */
@Injectable()
export class ReplicaConnections {
  constructor(
    @Inject(STORE) private readonly store: SessionStore,
    private readonly gateways: GatewayConnections,
    private readonly retired: RetiredKeys,
  ) {}

  async close(): Promise<void> {
    this.retired.close();
    await Promise.all([this.gateways.close(), this.store.close()]);
  }
}
