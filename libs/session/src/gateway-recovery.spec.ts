import type { GatewayFailureKind } from './gateway-failure.js';
import { GatewayRecovery } from './gateway-recovery.js';

/** `shop` or, with its kind, `shop refused`: each a failure at the gateway. */
function recoveryAfter(...failures: readonly string[]): GatewayRecovery {
  const recovery = new GatewayRecovery();
  for (const failure of failures) {
    const [merchant = '', kind = 'transient'] = failure.split(' ');
    recovery.failed('bank', merchant, kind as GatewayFailureKind);
  }
  return recovery;
}

describe('a gateway that answers again', () => {
  const table: Readonly<Record<string, readonly [readonly string[], string, readonly string[]]>> = {
    'releases nobody when nothing had failed': [[], 'shop', []],
    'releases all for whom it had failed': [['shop', 'stall', 'store'], 'kiosk', ['shop', 'stall', 'store']],
    'does not release the one that it answered': [['shop', 'stall', 'store'], 'stall', ['shop', 'store']],
    'releases a merchant once, however often it failed': [['shop', 'stall', 'shop'], 'kiosk', ['shop', 'stall']],
    'releases the other of two that failed three times together': [['shop', 'stall', 'shop'], 'shop', ['stall']],
    'releases nobody after two failures': [['shop', 'stall'], 'kiosk', []],
    'had come too late as well as failed': [
      ['shop timeout', 'stall transient', 'store timeout'],
      'shop',
      ['stall', 'store'],
    ],
    'releases nobody that alone had failed, however often': [['shop', 'shop', 'shop', 'shop'], 'kiosk', []],
    'had not failed when it refused': [
      ['shop refused', 'stall revoked', 'store invalid_response', 'kiosk aborted'],
      'x',
      [],
    ],
    'does not count refusals among its failures': [['shop', 'stall', 'store refused'], 'kiosk', []],
    'does not release one that it refused': [['shop', 'stall', 'shop', 'store refused'], 'kiosk', ['shop', 'stall']],
  };

  it.each(Object.entries(table))('%s', (_name, [failures, succeeded, released]) => {
    expect(recoveryAfter(...failures).succeeded('bank', succeeded)).toEqual(released);
  });

  it('begins to count anew with every answer', () => {
    const recovery = recoveryAfter('shop', 'stall', 'store');
    recovery.succeeded('bank', 'kiosk');
    expect(recovery.succeeded('bank', 'kiosk')).toEqual([]);
    recovery.failed('bank', 'shop', 'transient');
    recovery.failed('bank', 'stall', 'transient');
    expect(recovery.succeeded('bank', 'kiosk')).toEqual([]);
  });

  it('releases nobody when one merchant fails alone while the others succeed', () => {
    const recovery = new GatewayRecovery();
    for (let round = 0; round < 10; round += 1) {
      recovery.failed('bank', 'shop', 'transient');
      expect(recovery.succeeded('bank', `other ${round}`)).toEqual([]);
    }
  });

  it('says nothing of another gateway', () => {
    const recovery = recoveryAfter('shop', 'stall', 'store');
    recovery.failed('other bank', 'kiosk', 'timeout');
    expect(recovery.succeeded('other bank', 'kiosk')).toEqual([]);
    expect(recovery.succeeded('bank', 'kiosk')).toEqual(['shop', 'stall', 'store']);
  });
});
