import type { BrokerConfiguration } from '#libs/configuration';
import { FakeClock } from '#libs/testing';
import { RequestLife } from '../http/request-life.js';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { type Readiness, ReplicaStatus } from './replica-status.js';
import type { OpenReplica } from '../renewal/replica.js';
import { StoreState } from '../renewal/store.js';

class Stage {
  readonly store = new StoreState(new FakeClock());
  readonly life = new RequestLife();
  readonly served = new Set<string>();
  readonly #status: ReplicaStatus;

  constructor(...merchants: readonly { readonly id: string; readonly required: boolean }[]) {
    const gateway = { baseUrl: new URL('https://gateway.example') };
    const configured = { merchants: merchants.map((merchant) => ({ ...merchant, gateway })) };
    const peek = (merchant: string): object | undefined => (this.served.has(merchant) ? {} : undefined);
    this.#status = new ReplicaStatus({
      configuration: new ConfigurationInForce(configured as unknown as BrokerConfiguration),
      open: { replica: { wishes: { peek } }, store: this.store } as unknown as OpenReplica,
      life: this.life,
    });
  }

  check(): Readiness {
    return this.#status.readiness();
  }
}

describe('readiness', () => {
  it('waits for the store, even where no merchant is required', () => {
    const stage = new Stage({ id: 'shop', required: false });
    expect(stage.check()).toEqual({
      ready: false,
      shuttingDown: false,
      missing: [],
      store: 'unknown',
      storeReached: false,
    });
    stage.store.note('refuses', 'NOPERM');
    expect(stage.check()).toMatchObject({ ready: false, store: 'refuses', storeReason: 'NOPERM' });
    stage.store.note('answers', 'the store answers');
    expect(stage.check()).toMatchObject({ ready: true, store: 'answers', storeReached: true });
    expect(stage.check()).not.toHaveProperty('storeReason');
  });

  it('stays while there is something to serve, whatever becomes of a store that was reached', () => {
    const stage = new Stage({ id: 'shop', required: true });
    stage.store.note('answers', 'the store answers');
    expect(stage.check()).toMatchObject({ ready: false, missing: ['shop'] });
    stage.served.add('shop');
    stage.store.note('silent', 'ECONNREFUSED');
    expect(stage.check()).toMatchObject({ ready: true, store: 'silent', storeReason: 'ECONNREFUSED' });
    stage.life.shutDown();
    expect(stage.check()).toMatchObject({ ready: false, shuttingDown: true });
  });
});
