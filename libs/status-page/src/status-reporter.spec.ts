import { plusMs } from '#libs/clock';
import type { RecordedFailure, Session, SessionReplica } from '#libs/session';
import { aRecordedFailure, aServerPublicKey, aSession, FakeClock } from '#libs/testing';
import type { StatusCondition, StatusDocument } from './status-document.js';
import { MAX_LISTED, StatusReporter, type StatusSearch } from './status-reporter.js';
import { StoreHealth } from './store-health.js';

/** What the page looks at of a replica: it says what it is told to. */
class Rig {
  readonly clock = new FakeClock();
  readonly held = new Map<string, Session>();
  /** Of a merchant that is neither without a session nor well. */
  readonly conditions = new Map<string, StatusCondition>();
  readonly failures = new Map<string, RecordedFailure>();
  readonly disputed = new Set<string>();
  readonly causes = new Map<string, object>();
  readonly reporter: StatusReporter;

  constructor(ids: readonly string[]) {
    const { clock, held } = this;
    const replica = {
      held,
      wishes: { verdict: (merchant: string) => ({ reason: held.has(merchant) ? 'current' : 'no_session' }) },
      isRenewing: () => false,
      hasForeignAuthorizer: (merchant: string) => this.disputed.has(merchant),
      conditionOf: (merchant: string) =>
        this.conditions.get(merchant) ?? (held.has(merchant) ? 'fresh' : 'unavailable'),
      retryInMs: () => undefined,
      causeFor: (merchant: string) => this.causes.get(merchant),
      failureOf: (merchant: string) => this.failures.get(merchant),
    };
    this.reporter = new StatusReporter({
      source: {
        replica: replica as unknown as SessionReplica,
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

  hold(merchant: string, overrides: Partial<Session> = {}): void {
    this.held.set(merchant, aSession({ merchant, ...overrides }));
  }

  async report(search?: StatusSearch): Promise<StatusDocument> {
    await this.clock.advance(1_000);
    return this.reporter.report(search);
  }

  async listed(search?: StatusSearch): Promise<string[]> {
    return (await this.report(search)).merchants.map(({ id, condition }) => `${id} ${condition}`);
  }
}

const { expiresAt } = aSession();
const later: Partial<Session> = { expiresAt: plusMs(expiresAt, 60_000) };

describe('the status document', () => {
  it('lists the worst first: by condition, by expiry, then those that the store holds up, and the rest as configured', async () => {
    const [longer, shorter] = [
      ['later-fresh', 'failing', 'blocked-later'],
      ['fresh', 'stale', 'sooner', 'dead', 'disputed', 'blocked'],
    ];
    const rig = new Rig([...longer, 'none', ...shorter]);
    for (const merchant of longer) rig.hold(merchant, later);
    for (const merchant of shorter) rig.hold(merchant);
    for (const merchant of ['failing', 'sooner']) rig.conditions.set(merchant, 'failing');
    rig.conditions.set('stale', 'stale').set('dead', 'dead').set('disputed', 'foreign_authorizer');
    rig.disputed.add('disputed');
    expect(await rig.listed()).toEqual([
      'none unavailable',
      'disputed foreign_authorizer',
      'dead dead',
      'stale stale',
      'sooner failing',
      'failing failing',
      'blocked fresh',
      'blocked-later fresh',
      'later-fresh fresh',
      'fresh fresh',
    ]);
    const { counts, merchants } = await rig.report();
    expect(counts).toEqual({ unavailable: 1, foreign_authorizer: 1, dead: 1, stale: 1, failing: 2, fresh: 4 });
    expect(merchants.slice(0, 3).map(({ reason }) => reason)).toEqual(['no_session', 'foreign_authorizer', 'current']);
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
    rig.conditions.set('shop', 'failing');
    const { merchants, replica, at } = await rig.report();
    const { createdAt, renewAt, mustRenewAt } = aSession();
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
      rig.conditions.set(merchant, 'failing');
      rig.failures.set(merchant, aRecordedFailure({ msgCode: 'b'.repeat(64) }));
    }
    const report = await rig.report();
    expect(report).toMatchObject({ matching: 10_000, counts: { failing: 10_000 } });
    expect(report.merchants).toHaveLength(MAX_LISTED);
    expect(JSON.stringify(report).length).toBeLessThan(100_000);
  });
});
