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
    expect(recovery.succeeded('bank', 'shop')).toEqual([]);
  });

  it('releases nobody after two failures: they may be those of merchants', () => {
    const recovery = new GatewayRecovery();
    recovery.failed('bank', 'shop', 'timeout');
    recovery.failed('bank', 'kiosk', 'timeout');
    expect(recovery.succeeded('bank', 'kiosk')).toEqual([]);
    recovery.failed('bank', 'shop', 'timeout');
    expect(recovery.succeeded('bank', 'shop')).toEqual([]);
  });

  it('has not recovered because a merchant succeeds that it never failed', () => {
    const recovery = new GatewayRecovery();
    for (const merchant of ['shop', 'tickets', 'shop']) recovery.failed('bank', merchant, 'timeout');
    expect(recovery.succeeded('bank', 'kiosk')).toEqual([]);
    expect(recovery.succeeded('bank', 'shop')).toEqual(['tickets']);
  });

  it('has nothing to release where nothing failed', () => {
    expect(new GatewayRecovery().succeeded('bank', 'shop')).toEqual([]);
  });

  it.each(['refused', 'revoked', 'invalid_response', 'aborted'] as const)(
    'does not release those who failed by %s: they wait for a person',
    (kind) => {
      const recovery = new GatewayRecovery();
      for (const merchant of ['shop', 'kiosk', 'tickets']) recovery.failed('bank', merchant, kind);
      expect(recovery.succeeded('bank', 'kiosk')).toEqual([]);
    },
  );
});
