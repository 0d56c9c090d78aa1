import { Gateways } from './gateways.js';

/** Enters until there is no room left. */
function fill(load: Gateways, gateway = 'bank'): number {
  let entered = 0;
  while (load.hasRoom(gateway)) load.enter(gateway, () => (entered += 1));
  return entered;
}

const nothing = (): void => undefined;

describe('calls to one gateway', () => {
  it('are sixteen at once at first, for each gateway by itself', () => {
    const load = new Gateways();
    expect(fill(load)).toBe(16);
    expect(load.hasRoom('other')).toBe(true);
    expect(fill(load, 'other')).toBe(16);
  });

  it('wait for one that leaves, in their order', () => {
    const load = new Gateways();
    fill(load);
    const order: string[] = [];
    for (const name of ['first', 'second']) load.enter('bank', () => order.push(name));
    expect(order).toEqual([]);
    load.leave('bank', 'refused');
    expect(order).toEqual(['first']);
    expect(load.hasRoom('bank')).toBe(false);
    load.leave('bank', 'refused');
    expect(order).toEqual(['first', 'second']);
    load.leave('bank', 'refused');
    expect(load.hasRoom('bank')).toBe(true);
  });

  it('have no room while somebody waits for it', () => {
    const load = new Gateways();
    for (let call = 0; call < 16; call += 1) load.enter('bank', nothing);
    load.enter('bank', nothing);
    load.enter('bank', nothing);
    load.leave('bank', 'refused');
    expect(load.hasRoom('bank')).toBe(false);
  });

  it.each(['timeout', 'transient'] as const)(
    'are half as many after one that failed by %s, and never none',
    (failure) => {
      const load = new Gateways();
      load.enter('bank', nothing);
      load.leave('bank', failure);
      expect(fill(load)).toBe(8);
      for (let call = 0; call < 8; call += 1) load.leave('bank', failure);
      expect(fill(load)).toBe(1);
      load.leave('bank', failure);
      expect(fill(load)).toBe(1);
    },
  );

  it.each(['refused', 'revoked', 'invalid_response', 'aborted'] as const)(
    'are as many as before after one that failed by %s: the gateway kept up',
    (failure) => {
      const load = new Gateways();
      for (let call = 0; call < 40; call += 1) {
        load.enter('bank', nothing);
        load.leave('bank', failure);
      }
      expect(fill(load)).toBe(16);
    },
  );

  it('are one more after a round of good ones, thirty-two at most', () => {
    const load = new Gateways();
    const succeed = (calls: number): void => {
      for (let call = 0; call < calls; call += 1) {
        load.enter('bank', nothing);
        load.leave('bank');
      }
    };
    succeed(16);
    expect(fill(load)).toBe(16);
    for (let call = 0; call < 16; call += 1) load.leave('bank', 'refused');
    succeed(1);
    expect(fill(load)).toBe(17);
    for (let call = 0; call < 17; call += 1) load.leave('bank', 'refused');
    succeed(2_000);
    expect(fill(load)).toBe(32);
  });

  it('are let in together when a good one leaves room for more than one', () => {
    const load = new Gateways();
    for (let call = 0; call < 16; call += 1) load.enter('bank', nothing);
    let entered = 0;
    for (let call = 0; call < 40; call += 1) load.enter('bank', () => (entered += 1));
    for (let call = 0; call < 17; call += 1) load.leave('bank');
    expect(entered).toBe(18);
  });
});

describe('a gateway that recovers', () => {
  it('releases everybody else who waited for it, once, after three failures', () => {
    const recovery = new Gateways();
    recovery.failed('bank', 'shop', 'timeout');
    recovery.failed('bank', 'kiosk', 'transient');
    recovery.failed('bank', 'tickets', 'transient');
    recovery.failed('other', 'elsewhere', 'timeout');
    expect(recovery.succeeded('bank', 'kiosk')).toEqual(['shop', 'tickets']);
    expect(recovery.succeeded('bank', 'kiosk')).toEqual([]);
  });

  it('releases nobody after two failures: they may be those of merchants', () => {
    const recovery = new Gateways();
    recovery.failed('bank', 'shop', 'timeout');
    recovery.failed('bank', 'kiosk', 'timeout');
    expect(recovery.succeeded('bank', 'tickets')).toEqual([]);
    recovery.failed('bank', 'shop', 'timeout');
    expect(recovery.succeeded('bank', 'tickets')).toEqual([]);
  });

  it('is not shown by a merchant that was well all the time', () => {
    const recovery = new Gateways();
    for (let failure = 0; failure < 3; failure += 1) recovery.failed('bank', 'shop', 'timeout');
    expect(recovery.succeeded('bank', 'kiosk')).toEqual([]);
  });

  it.each(['refused', 'revoked', 'invalid_response', 'aborted'] as const)(
    'does not release those who failed by %s: they wait for a person',
    (kind) => {
      const recovery = new Gateways();
      for (let failure = 0; failure < 5; failure += 1) recovery.failed('bank', 'shop', kind);
      expect(recovery.succeeded('bank', 'kiosk')).toEqual([]);
    },
  );
});
