import { GatewayRecovery } from './gateway-recovery.js';

describe('a gateway that recovers', () => {
  it('releases everybody else who waited for it, once, after three failures', () => {
    const recovery = new GatewayRecovery();
    recovery.failed('bank', 'shop', 'timeout');
    recovery.failed('bank', 'kiosk', 'transient');
    recovery.failed('bank', 'tickets', 'transient');
    recovery.failed('other', 'elsewhere', 'timeout');
    expect(recovery.succeeded('bank', 'kiosk')).toEqual(['shop', 'tickets']);
    expect(recovery.succeeded('bank', 'kiosk')).toEqual([]);
  });

  it('releases nobody after two failures: they may be those of merchants', () => {
    const recovery = new GatewayRecovery();
    recovery.failed('bank', 'shop', 'timeout');
    recovery.failed('bank', 'kiosk', 'timeout');
    expect(recovery.succeeded('bank', 'tickets')).toEqual([]);
    recovery.failed('bank', 'shop', 'timeout');
    expect(recovery.succeeded('bank', 'tickets')).toEqual([]);
  });

  it('is not shown by a merchant that was well all the time', () => {
    const recovery = new GatewayRecovery();
    for (let failure = 0; failure < 3; failure += 1) recovery.failed('bank', 'shop', 'timeout');
    expect(recovery.succeeded('bank', 'kiosk')).toEqual([]);
  });

  it.each(['refused', 'revoked', 'invalid_response', 'aborted'] as const)(
    'does not release those who failed by %s: they wait for a person',
    (kind) => {
      const recovery = new GatewayRecovery();
      for (let failure = 0; failure < 5; failure += 1) recovery.failed('bank', 'shop', kind);
      expect(recovery.succeeded('bank', 'kiosk')).toEqual([]);
    },
  );
});
