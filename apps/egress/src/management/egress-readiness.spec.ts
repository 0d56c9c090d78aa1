import { type EgressReadiness, type KnownSession, readinessOf } from './egress-readiness.js';

type Known = Omit<KnownSession, 'merchant'>;
const NONE: Known = { generation: undefined, isLiving: false };
const LIVING: Known = { generation: 1, isLiving: true };

function judged(sessions: Readonly<Record<string, Known>>, isShuttingDown = false): EgressReadiness {
  const known = Object.entries(sessions).map(([merchant, session]) => ({ merchant, ...session }));
  return readinessOf(known, isShuttingDown);
}

describe('the readiness of the egress', () => {
  it('is there when every merchant has a session that is valid now', () => {
    expect(judged({ shop: LIVING, kiosk: LIVING })).toEqual({
      ready: true,
      shuttingDown: false,
      merchants: [
        { merchant: 'shop', ready: true },
        { merchant: 'kiosk', ready: true },
      ],
    });
  });

  it.each<[string, Known, string]>([
    ['has none yet', NONE, 'no_session'],
    ['has one that has ended', { generation: 1, isLiving: false }, 'expired'],
    ['has none, and the broker says why', { ...NONE, reason: 'gateway_refused' }, 'gateway_refused'],
  ])('is not while one merchant %s', (_why, session, reason) => {
    const { ready, merchants } = judged({ shop: LIVING, kiosk: session });
    expect([ready, merchants[0]?.ready, merchants[1]]).toEqual([
      false,
      true,
      { merchant: 'kiosk', ready: false, reason },
    ]);
  });

  it('goes on with the last session of a merchant that the broker knows no more, and says so', () => {
    const last = { ...LIVING, reason: 'merchant_not_found' };
    expect(judged({ shop: last })).toMatchObject({
      ready: true,
      merchants: [{ merchant: 'shop', ready: true, reason: 'merchant_not_found' }],
    });
  });

  it('is not while the egress shuts down', () => {
    expect(judged({ shop: LIVING }, true)).toMatchObject({ ready: false, shuttingDown: true });
  });
});
