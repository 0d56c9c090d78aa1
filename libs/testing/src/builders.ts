import { instantFromEpochMs, plusMs } from '#libs/clock';
import { type HeldSessions, heldFrom } from '#libs/session';
import type {
  ClaimRequest,
  CreateCallBudget,
  CreateCallWindow,
  DeathReport,
  IssuedSession,
  Publication,
  RecordedFailure,
  ServerPublicKey,
  Session,
  SessionSettings,
} from '#libs/session';

/** The moment at which FakeClock starts by default, so that built sessions are alive on it. */
export const createdAt = instantFromEpochMs(Date.parse('2026-01-01T00:00:00.000Z'));

/** A point on P-384 whose private part was not kept. */
export function aServerPublicKey(): ServerPublicKey {
  return {
    kty: 'EC',
    crv: 'P-384',
    x: '--mRoBKIOvX64XX0l-CPpVCAapwyNZ6VzsBdD5R2dLkFgVtqqvnNB-KWwHtG_22e',
    y: 'PFQGZA48J5kQ9m7rzTZk405DaS4Xd3yhGv8RWnS1bNef48dG3HoFyM_4Ln7rY5wK',
  };
}

/** A session of the merchant `shop`, fifteen minutes long, renewed from its twelfth minute on. */
export function aSession(overrides: Partial<Session> = {}): Session {
  return {
    merchant: 'shop',
    generation: 1,
    authToken: '5f6a0c0e-7a5c-4c6c-9c0b-2d1f3e4a5b6c',
    deviceId: 'a3c1f1d2-0b4e-4f7a-8d9c-6e5f4a3b2c1d',
    serverPublic: aServerPublicKey(),
    clientKeyThumbprint: 'LrSCJ6m3kJpUOrX0Yt0v8Zc2tXG5qJ0o3dY4mH1nZ7A',
    createdAt,
    expiresAt: plusMs(createdAt, 900_000),
    renewAt: plusMs(createdAt, 720_000),
    mustRenewAt: plusMs(createdAt, 870_000),
    ...overrides,
  };
}

/** A budget of one window. */
export function aBudget(overrides: Partial<CreateCallWindow> = {}): CreateCallBudget {
  return [{ calls: 20, perMs: 600_000, ...overrides }];
}

/** Replica `replica-1` claims `shop` because it is due. */
export function aClaim(overrides: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    merchant: 'shop',
    owner: 'replica-1',
    leaseMs: 10_000,
    mode: 'when_due',
    newerThan: 0,
    floor: 0,
    budget: aBudget(),
    coolDownMs: 0,
    ...overrides,
  };
}

/** A session for the store, answered just now; the next one is due in a minute. */
export function aPublication(session: Session = aSession(), overrides: Partial<Publication> = {}): Publication {
  return { session, ageMs: 0, nextDueInMs: 60_000, ...overrides };
}

export function aRecordedFailure(overrides: Partial<RecordedFailure> = {}): RecordedFailure {
  return { kind: 'transient', msgCode: 'b_server_is_overloaded', at: createdAt, ...overrides };
}

/** A session that was reported dead just now, within a cool-down. */
export function aDeathReport(overrides: Partial<DeathReport> = {}): DeathReport {
  return { generation: 1, ageMs: 0, mayProve: false, ...overrides };
}

/** The settings of a merchant that configures none of its own. */
export function someSettings(overrides: Partial<SessionSettings> = {}): SessionSettings {
  return {
    renewBefore: undefined,
    safetyMargin: undefined,
    renewEveryMs: undefined,
    quietHours: undefined,
    fallbackLifetimeMs: 28_800_000,
    gatewayTimeoutMs: 5_000,
    budget: [{ calls: 20, perMs: 600_000 }],
    longestLifetimeMs: 86_400_000,
    largestClockSkewMs: 300_000,
    foreignAuthorizerPauseMs: 600_000,
    supersedes: true,
    handoverMs: 0,
    ...overrides,
  };
}

export function anIssuedSession(overrides: Partial<IssuedSession> = {}): IssuedSession {
  return {
    authToken: '5f6a0c0e-7a5c-4c6c-9c0b-2d1f3e4a5b6c',
    deviceId: 'a3c1f1d2-0b4e-4f7a-8d9c-6e5f4a3b2c1d',
    serverPublic: aServerPublicKey(),
    clientKeyThumbprint: 'LrSCJ6m3kJpUOrX0Yt0v8Zc2tXG5qJ0o3dY4mH1nZ7A',
    sentAt: createdAt,
    receivedAt: createdAt,
    ...overrides,
  };
}

/** Puts a session into a replica's memory, as if the store had given it. */
export function hold(held: HeldSessions, session: Session, ageMs = 0): void {
  const entry = held.entryOf(session.merchant);
  const { ms } = held.moment;
  held.keep(entry, { ...entry.merchant, held: heldFrom(session, ms - ageMs) });
}
