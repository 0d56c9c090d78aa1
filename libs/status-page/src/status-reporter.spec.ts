import { instantFromEpochMs, plusMs } from '#libs/clock';
import { HeldSessions, type RecordedFailure, type Session, type SessionReplica, Wishes } from '#libs/session';
import { aRecordedFailure, aServerPublicKey, aSession, FakeClock, hold } from '#libs/testing';
import type { StatusDocument } from './status-document.js';
import { MAX_LISTED, StatusReporter, type StatusSearch } from './status-reporter.js';
import { StoreHealth } from './store-health.js';

/** The parts of a replica that the page looks at, with sessions put into its memory by hand. */
class Rig {
  readonly clock = new FakeClock();
  readonly held = new HeldSessions(this.clock);
  readonly failures = new Map<string, RecordedFailure>();
  readonly renewing = new Set<string>();
  readonly disputed = new Set<string>();
  readonly dead = new Set<string>();
  readonly causes = new Map<string, object>();
  readonly wishes: Wishes;
  readonly reporter: StatusReporter;

  constructor(ids: readonly string[]) {
    const { clock, held } = this;
    this.wishes = new Wishes(clock, undefined as never, { held } as never);
    const { wishes } = this;
    const hasForeignAuthorizer = (merchant: string): boolean => this.disputed.has(merchant);
    const isRenewing = (merchant: string): boolean => this.renewing.has(merchant);
    const asked = {
      isRenewing,
      hasForeignAuthorizer,
      conditionOf: (merchant: string) => this.conditionOf(merchant),
      retryInMs: () => undefined,
      causeFor: (merchant: string) => this.causes.get(merchant),
      failureOf: (merchant: string) => this.failures.get(merchant),
    };
    const replica = { held, wishes, ...asked } as unknown as SessionReplica;
    this.reporter = new StatusReporter({
      source: {
        replica,
        merchants: () => ids,
        merchant: () => ({ required: true, environment: 'production', gatewayHost: 'gateway.example' }),
        store: () => ({ type: 'memory' }),
        isRenewalBlocked: (id) => id.startsWith('blocked'),
        condition: () => ({ version: '0.1.0', ready: true, shuttingDown: false, storeReached: true }),
      },
      clock,
      store: new StoreHealth(() => ({ type: 'memory' }), clock),
      skews: new Map(),
      name: 'broker-0',
    });
  }

  conditionOf(merchant: string): string {
    const { result } = this.wishes.verdict(merchant);
    if (result === 'unavailable') return result;
    if (this.disputed.has(merchant)) return 'foreign_authorizer';
    if (this.dead.has(merchant)) return 'dead';
    return result === 'fresh' && this.failures.get(merchant) !== undefined ? 'failing' : result;
  }

  hold(merchant: string, overrides: Partial<Session> = {}): void {
    hold(this.held, aSession({ merchant, ...overrides }));
  }

  async report(search?: StatusSearch): Promise<StatusDocument> {
    await this.clock.advance(1_000);
    return this.reporter.report(search);
  }

  async listed(search?: StatusSearch): Promise<string[]> {
    return (await this.report(search)).merchants.map(({ id, condition }) => `${id} ${condition}`);
  }
}

const endsIn = (minutes: number): Partial<Session> => {
  const createdAt = instantFromEpochMs(Date.parse('2026-01-01T00:00:00.000Z'));
  const at = (share: number): ReturnType<typeof plusMs> => plusMs(createdAt, share * minutes * 60_000);
  return { createdAt, expiresAt: at(1), mustRenewAt: at(0.95), renewAt: at(0.8) };
};

describe('the status document', () => {
  it('lists the worst first: by condition, by expiry, and the rest as configured', async () => {
    const rig = new Rig(['fresh', 'late', 'failing', 'stale', 'none', 'sooner', 'expired', 'due', 'busy']);
    rig.hold('fresh', endsIn(60));
    rig.hold('late', endsIn(60));
    rig.hold('failing', endsIn(60));
    rig.hold('sooner', endsIn(50));
    rig.hold('stale', endsIn(10));
    rig.hold('expired', endsIn(5));
    rig.hold('due', endsIn(11));
    rig.hold('busy', endsIn(60));
    rig.renewing.add('busy');
    for (const merchant of ['failing', 'sooner']) rig.failures.set(merchant, aRecordedFailure());
    await rig.clock.advance(9.6 * 60_000);
    expect(await rig.listed()).toEqual([
      'none unavailable',
      'expired unavailable',
      'stale stale',
      'sooner failing',
      'failing failing',
      'fresh fresh',
      'late fresh',
      'due fresh',
      'busy fresh',
    ]);
    expect((await rig.report()).counts).toEqual({
      unavailable: 2,
      foreign_authorizer: 0,
      dead: 0,
      stale: 1,
      failing: 2,
      fresh: 4,
    });
  });

  it('says that somebody else ends sessions that look fresh, before it says that renewals fail', async () => {
    const rig = new Rig(['fresh', 'failing', 'disputed', 'late']);
    for (const merchant of ['fresh', 'failing', 'disputed']) rig.hold(merchant, endsIn(60));
    rig.hold('late', endsIn(0.01));
    rig.failures.set('failing', aRecordedFailure());
    for (const merchant of ['disputed', 'late']) rig.disputed.add(merchant);
    expect(await rig.listed()).toEqual([
      'late unavailable',
      'disputed foreign_authorizer',
      'failing failing',
      'fresh fresh',
    ]);
    rig.dead.add('fresh');
    expect(await rig.listed({ condition: 'dead' })).toEqual(['fresh dead']);
    const { merchants } = await rig.report({ condition: 'foreign_authorizer' });
    expect(merchants.map(({ reason }) => reason)).toEqual(['foreign_authorizer']);
  });

  it('says what is the matter with a merchant, and says so of no other', async () => {
    const rig = new Rig(['none', 'served']);
    rig.hold('served');
    rig.causes.set('none', { code: 'refused', msgCode: 'b_merchant_not_found', effect: 'payments_fail', secret: 'x' });
    const [none, served] = (await rig.report()).merchants;
    expect(none).toMatchObject({ reason: 'no_session' });
    expect(none?.cause).toEqual({
      text: 'Payments fail: the bank refuses: b_merchant_not_found',
      remedy: expect.stringMatching(/session-broker renew --merchant none$/) as string,
      runbook: 'access-refused',
    });
    expect(served?.cause).toBeUndefined();
  });

  it('finds by a part of the id, by condition, and by both', async () => {
    const rig = new Rig(['shop-a', 'shop-b', 'kiosk']);
    rig.hold('shop-a');
    rig.hold('kiosk');
    expect(await rig.listed({ text: 'shop' })).toEqual(['shop-b unavailable', 'shop-a fresh']);
    expect(await rig.listed({ condition: 'fresh' })).toEqual(['shop-a fresh', 'kiosk fresh']);
    expect(await rig.listed({ text: 'shop', condition: 'fresh' })).toEqual(['shop-a fresh']);
    expect(await rig.report({ text: 'nobody' })).toMatchObject({ matching: 0, merchants: [], counts: { fresh: 2 } });
  });

  it('says of a merchant what the page shows', async () => {
    const rig = new Rig(['shop']);
    rig.hold('shop', { generation: 7 });
    rig.failures.set('shop', aRecordedFailure({ kind: 'timeout', msgCode: 'b_slow' }));
    const { merchants, replica, at } = await rig.report();
    const { createdAt, renewAt, mustRenewAt, expiresAt } = aSession();
    expect(merchants).toEqual([
      {
        id: 'shop',
        required: true,
        environment: 'production',
        condition: 'failing',
        reason: 'current',
        session: { generation: 7, createdAt, renewAt, mustRenewAt, expiresAt },
        renewing: false,
        renewalBlocked: false,
        failure: { kind: 'timeout', code: 'b_slow', at: createdAt },
      },
    ]);
    expect(replica).toMatchObject({ name: 'broker-0', version: '0.1.0', ready: true, startedAt: at - 1_000 });
    expect(at).toBe(rig.clock.now());
  });

  it('says whose renewals the store holds up, and what the network said of a call that was not answered', async () => {
    const rig = new Rig(['shop', 'blocked']);
    const { msgCode: _none, ...failure } = aRecordedFailure({ kind: 'transient' });
    rig.failures.set('shop', { ...failure, trace: { mark: 'ECONNREFUSED' } });
    const { merchants } = await rig.report();
    expect(merchants).toMatchObject([
      { id: 'shop', renewalBlocked: false, failure: { kind: 'transient', code: 'ECONNREFUSED' } },
      { id: 'blocked', renewalBlocked: true },
    ]);
  });

  it('lists those that the store holds up before those that are well, and of them the one first that ends first', async () => {
    const rig = new Rig(['fresh', 'blocked-later', 'blocked', 'failing']);
    const { expiresAt } = aSession();
    for (const merchant of ['fresh', 'blocked', 'failing']) rig.hold(merchant);
    rig.hold('blocked-later', { expiresAt: plusMs(expiresAt, 60_000) });
    rig.failures.set('failing', aRecordedFailure());
    expect(await rig.listed()).toEqual(['failing failing', 'blocked fresh', 'blocked-later fresh', 'fresh fresh']);
  });

  it('carries no secret of a session, whatever a session may come to hold', async () => {
    const rig = new Rig(['shop']);
    const canaries = {
      authToken: 'canary-1',
      deviceId: 'canary-2',
      refreshToken: 'canary-3',
      clientKeyThumbprint: 'canary-4',
    };
    const further = { serviceCode: 'canary-5', serverPublic: { ...aServerPublicKey(), x: 'canary-6', y: 'canary-7' } };
    rig.hold('shop', { ...canaries, ...further });
    rig.failures.set('shop', { ...aRecordedFailure(), detail: 'canary-8' } as never);
    const text = JSON.stringify(await rig.report());
    expect(text).toContain('"generation":1');
    expect(text).not.toContain('canary');
  });

  it('stays small with ten thousand merchants, each with as much to tell as there can be', async () => {
    const ids = Array.from({ length: 10_000 }, (_, index) => `${'m'.repeat(58)}${String(index).padStart(5, '0')}`);
    const rig = new Rig(ids);
    for (const merchant of ids) {
      rig.hold(merchant, { generation: 1_795_212_001_234 });
      rig.failures.set(merchant, aRecordedFailure({ msgCode: 'b'.repeat(64) }));
    }
    const report = await rig.report();
    expect(report).toMatchObject({ matching: 10_000, counts: { failing: 10_000 } });
    expect(report.merchants).toHaveLength(MAX_LISTED);
    expect(JSON.stringify(report).length).toBeLessThan(100_000);
  });
});
