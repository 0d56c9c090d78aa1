import { FakeClock } from '#libs/testing';
import { type EgressReadiness, type KnownSession, readinessOf } from './egress-readiness.js';

const clock = new FakeClock();
const LIVING: KnownSession = { expiresAtMs: clock.now() + 1 };

function judged(sessions: Readonly<Record<string, KnownSession>>, isShuttingDown = false): EgressReadiness {
  const sessionOf = (merchant: string): KnownSession => sessions[merchant] ?? { expiresAtMs: undefined };
  return readinessOf({ merchants: Object.keys(sessions), sessionOf, isShuttingDown, clock });
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

  it.each<[string, KnownSession, string]>([
    ['has none yet', { expiresAtMs: undefined }, 'no_session'],
    ['has one that ends now', { expiresAtMs: clock.now() }, 'expired'],
    ['has none, and the broker says why', { expiresAtMs: undefined, reason: 'gateway_refused' }, 'gateway_refused'],
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
