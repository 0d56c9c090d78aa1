import { type KnownSession, readinessOf } from './egress-readiness.js';

type Known = Omit<KnownSession, 'merchant'>;
const NONE: Known = { generation: undefined, isLiving: false };
const LIVING: Known = { generation: 1, isLiving: true };

describe('the readiness of the egress', () => {
  it.each<[string, Known, boolean, { readonly reason?: string }]>([
    ['has a session that is valid now', LIVING, true, {}],
    ['has none yet', NONE, false, { reason: 'no_session' }],
    ['has one that has ended', { generation: 1, isLiving: false }, false, { reason: 'expired' }],
    ['has none, and the broker says why', { ...NONE, reason: 'gateway_refused' }, false, { reason: 'gateway_refused' }],
    [
      'has its last one, as the broker knows it no more',
      { ...LIVING, reason: 'merchant_not_found' },
      true,
      { reason: 'merchant_not_found' },
    ],
  ])('is that of all merchants, of which one %s', (...[, kiosk, ready, told]) => {
    const known = [
      { merchant: 'shop', ...LIVING },
      { merchant: 'kiosk', ...kiosk },
    ];
    const merchants = [
      { merchant: 'shop', ready: true },
      { merchant: 'kiosk', ready, ...told },
    ];
    expect(readinessOf(known, false)).toEqual({ ready, shuttingDown: false, merchants });
  });

  it('is not while the egress shuts down', () => {
    const known = [{ merchant: 'shop', ...LIVING }];
    expect(readinessOf(known, true)).toMatchObject({ ready: false, shuttingDown: true });
  });
});
