import type { BrokerConfiguration } from '#libs/configuration';
import type { SessionReplica } from '#libs/session';
import { FakeClock } from '#libs/testing';
import { RequestLife } from '../http/request-life.js';
import { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { ReadinessProbe } from './readiness.service.js';
import { StoreState } from '../renewal/store-state.js';

class Stage {
  readonly store = new StoreState(new FakeClock());
  readonly life = new RequestLife();
  readonly served = new Set<string>();
  readonly probe: ReadinessProbe;

  constructor(...merchants: readonly { readonly id: string; readonly required: boolean }[]) {
    const configuration = new ConfigurationInForce({ merchants } as unknown as BrokerConfiguration);
    const peek = (merchant: string): object | undefined => (this.served.has(merchant) ? {} : undefined);
    this.probe = new ReadinessProbe(
      configuration,
      { reader: { peek } } as unknown as SessionReplica,
      this.life,
      this.store,
    );
  }
}

describe('readiness', () => {
  it('waits for the store, even where no merchant is required', () => {
    const stage = new Stage({ id: 'shop', required: false });
    expect(stage.probe.check()).toEqual({
      ready: false,
      shuttingDown: false,
      missing: [],
      store: 'unknown',
      storeReached: false,
    });
    stage.store.note('refuses', 'NOPERM');
    expect(stage.probe.check()).toMatchObject({ ready: false, store: 'refuses', storeReason: 'NOPERM' });
    stage.store.note('answers', 'the store answers');
    expect(stage.probe.check()).toMatchObject({ ready: true, store: 'answers', storeReached: true });
    expect(stage.probe.check()).not.toHaveProperty('storeReason');
  });

  it('stays while there is something to serve, whatever becomes of a store that was reached', () => {
    const stage = new Stage({ id: 'shop', required: true });
    stage.store.note('answers', 'the store answers');
    expect(stage.probe.check()).toMatchObject({ ready: false, missing: ['shop'] });
    stage.served.add('shop');
    stage.store.note('silent', 'ECONNREFUSED');
    expect(stage.probe.check()).toMatchObject({ ready: true, store: 'silent', storeReason: 'ECONNREFUSED' });
    stage.life.shutDown();
    expect(stage.probe.check()).toMatchObject({ ready: false, shuttingDown: true });
  });
});
