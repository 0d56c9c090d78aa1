import { GatewayFailure, type GatewayFailureFacts, type RenewalOutcome } from '#libs/session';
import { FakeClock } from '#libs/testing';
import { GatewayHealth } from './gateway-health.js';
import type { StatusGateway } from './status-document.js';

const hosts: Readonly<Record<string, string>> = { shop: 'one.example', kiosk: 'one.example', tickets: 'two.example' };

class Rig {
  readonly clock = new FakeClock();
  readonly health = new GatewayHealth((merchant) => hosts[merchant], this.clock);

  ends(...outcomes: readonly RenewalOutcome[]): this {
    for (const outcome of outcomes) this.end('shop', outcome);
    return this;
  }

  end(merchant: string, outcome: RenewalOutcome, callMs = 100): void {
    this.health.emit({
      event: 'renewal_finished',
      merchant,
      trigger: 'schedule',
      outcome,
      durationMs: 10_900,
      callMs,
      generation: 1,
    });
  }

  /** Another replica has renewed it, which this one learns from the store. */
  adopts(merchant: string, source: 'own' | 'store' = 'store', ageMs = 0): this {
    this.health.emit({ event: 'session_adopted', merchant, generation: 2, source, ageMs, serverKeyChanged: false });
    return this;
  }

  fails(outcome: 'refused' | 'transient', trace: Pick<GatewayFailureFacts, 'mark'>): this {
    const failure = new GatewayFailure({ kind: outcome, detail: 'failed', ...trace });
    const facts = {
      merchant: 'shop',
      trigger: 'schedule',
      outcome,
      durationMs: 100,
      callMs: 100,
      generation: 1,
      failure,
    } as const;
    this.health.emit({ event: 'renewal_finished', ...facts });
    return this;
  }

  get one(): StatusGateway {
    return this.health.describe(new Map([['one.example', 2]]))[0]!;
  }
}

describe('the health of a gateway', () => {
  it.each<[string, RenewalOutcome[], StatusGateway['health']]>([
    ['not known before the first call', [], 'unknown'],
    ['not known from a result that came too late', ['lease_lost'], 'unknown'],
    ['good when it answers', ['success'], 'answering'],
    ['one that refuses while the last word to a merchant was a refusal', ['success', 'refused'], 'refusing'],
    ['one that refuses when it has revoked the access', ['revoked'], 'refusing'],
    ['good again with the first session after refusals', ['refused', 'refused', 'success'], 'answering'],
    ['bad when the last three calls failed after refusals', ['refused', 'timeout', 'timeout', 'timeout'], 'down'],
    ['in between when a call has failed since it refused', ['refused', 'timeout'], 'degraded'],
    ['bad when the only call failed', ['transient'], 'down'],
    ['bad when the last three calls failed', ['success', 'transient', 'timeout', 'invalid_response'], 'down'],
    ['in between when one of the last calls failed', ['success', 'timeout', 'success'], 'degraded'],
    ['in between until as many were answered', ['timeout', 'timeout', 'success', 'success'], 'degraded'],
    ['good again after as many answers in a row', ['timeout', 'success', 'success', 'success'], 'answering'],
    ['in between after one failure', ['success', 'success', 'success', 'timeout'], 'degraded'],
  ])('is %s', (_what, outcomes, health) => {
    expect(new Rig().ends(...outcomes).one.health).toBe(health);
  });

  it('is not trusted while the last word to a merchant is that of its certificate, and that is no answer', () => {
    const rig = new Rig().fails('refused', { mark: 'SELF_SIGNED_CERT_IN_CHAIN' });
    expect(rig.one).toMatchObject({
      health: 'untrusted',
      failed: 1,
      refused: 0,
      lastFailure: { code: 'SELF_SIGNED_CERT_IN_CHAIN' },
    });
    expect(rig.one.lastAnswerAt).toBeUndefined();
    expect(rig.ends('success').one.health).toBe('answering');
  });

  it('is not good while the last call for one of its merchants failed', () => {
    const rig = new Rig();
    rig.end('kiosk', 'timeout');
    expect(rig.ends('success', 'success', 'success').one.health).toBe('degraded');
    expect(rig.one.answersSince).toBeUndefined();
    rig.end('kiosk', 'success');
    expect(rig.one.answersSince).toBe(rig.clock.now());
  });

  it('has answered again when another replica has renewed the merchant whose last call failed here', async () => {
    const rig = new Rig().ends('timeout', 'timeout', 'timeout');
    expect(rig.one.health).toBe('down');
    await rig.clock.advance(5_000);
    const now = rig.clock.now();
    expect(rig.adopts('shop').one).toMatchObject({
      health: 'degraded',
      attempts: 3,
      failed: 3,
      answersSince: now,
      answeredOthersAt: now,
    });
    expect(rig.one.lastAnswerAt).toBeUndefined();
    expect(rig.adopts('shop').adopts('shop').one.health).toBe('answering');
  });

  it('refuses nobody any more when another replica has renewed the merchant that it refused here', () => {
    expect(new Rig().ends('refused').adopts('shop').one).toMatchObject({ health: 'answering', refused: 1 });
  });

  it('is not told from what was made before this replica called, nor from its own sessions', () => {
    expect(new Rig().adopts('shop').one).toMatchObject({ health: 'unknown', attempts: 0 });
    const rig = new Rig().ends('timeout').adopts('kiosk').adopts('shop', 'own');
    expect(rig.one.health).toBe('down');
    expect(rig.one.answeredOthersAt).toBeUndefined();
  });

  it('has answered another replica when that session was made, however late this one learns of it', async () => {
    const rig = new Rig().ends('timeout');
    await rig.clock.advance(600_000);
    const now = rig.clock.now();
    expect(rig.ends('timeout').adopts('shop', 'store', 300_000).one).toMatchObject({
      health: 'degraded',
      answeredOthersAt: now - 300_000,
      lastFailure: { at: now },
    });
    expect(rig.one.answersSince).toBeUndefined();
    const old = new Rig().ends('timeout').adopts('shop', 'store', 3_600_000).one;
    expect(old).toMatchObject({ health: 'down' });
    expect(old).not.toHaveProperty('answeredOthersAt');
  });

  it('is judged by the merchants that it still has', () => {
    const ofHost = { ...hosts };
    const clock = new FakeClock();
    const health = new GatewayHealth((merchant) => ofHost[merchant], clock);
    const finished = {
      event: 'renewal_finished',
      trigger: 'schedule',
      durationMs: 100,
      callMs: 100,
      generation: 1,
    } as const;
    health.emit({ ...finished, merchant: 'shop', outcome: 'success' });
    health.emit({ ...finished, merchant: 'kiosk', outcome: 'timeout' });
    delete ofHost['kiosk'];
    expect(health.describe(new Map([['one.example', 1]]))[0]).toMatchObject({ health: 'answering', attempts: 1 });
  });

  it('says since when it answers again', async () => {
    const rig = new Rig().ends('success');
    expect(rig.one.answersSince).toBeUndefined();
    rig.ends('timeout', 'timeout');
    expect(rig.one.answersSince).toBeUndefined();
    await rig.clock.advance(5_000);
    const since = rig.clock.now();
    rig.ends('success');
    await rig.clock.advance(5_000);
    expect(rig.ends('refused').one.answersSince).toBe(since);
  });

  it('says what the network said where no gateway gave a code', () => {
    const rig = new Rig().fails('transient', { mark: 'ECONNREFUSED' });
    expect(rig.one.lastFailure).toMatchObject({ kind: 'transient', code: 'ECONNREFUSED' });
  });

  it('counts what it refuses apart from what fails, and a merchant that is well hides no other', () => {
    const rig = new Rig().ends('timeout', 'refused', 'revoked');
    rig.end('kiosk', 'success');
    expect(rig.one).toMatchObject({ health: 'refusing', attempts: 4, failed: 1, refused: 2 });
  });

  it('forgets failures after a quarter of an hour, and after twenty calls', async () => {
    const rig = new Rig().ends('timeout', 'success');
    await rig.clock.advance(900_001);
    expect(rig.one).toMatchObject({ health: 'unknown', attempts: 0, failed: 0 });
    rig.ends('timeout', ...Array.from({ length: 20 }, () => 'success' as const));
    expect(rig.one).toMatchObject({ health: 'answering', attempts: 20, failed: 0 });
  });

  it('is shared by the merchants of a host, with how long calls take, what failed last, and its clock', async () => {
    const rig = new Rig();
    for (const callMs of [100, 900, 300]) rig.end('shop', 'success', callMs);
    await rig.clock.advance(1_000);
    rig.end('kiosk', 'timeout', 5_000);
    rig.health.emit({ event: 'clock_skew', merchant: 'shop', skewMs: -2_500, beyondTolerance: true });
    const now = rig.clock.now();
    expect(rig.one).toEqual({
      host: 'one.example',
      merchants: 2,
      health: 'degraded',
      attempts: 4,
      failed: 1,
      refused: 0,
      medianMs: 300,
      lastAnswerAt: now - 1_000,
      lastFailure: { at: now, kind: 'timeout' },
      skewMs: -2_500,
    });
  });

  it('puts the worst gateway first, and leaves out those that no merchant is configured for', () => {
    const rig = new Rig().ends('refused');
    rig.end('tickets', 'timeout');
    const described = rig.health.describe(
      new Map(Object.entries({ 'one.example': 2, 'two.example': 1, 'new.example': 1 })),
    );
    expect(described.map(({ host }) => host)).toEqual(['two.example', 'one.example', 'new.example']);
    expect(rig.health.describe(new Map([['one.example', 2]]))).toHaveLength(1);
  });
});
