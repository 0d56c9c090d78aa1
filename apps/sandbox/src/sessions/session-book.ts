import { createHash, randomUUID } from 'node:crypto';
import { plusMs, toRfc3339, type Clock, type Instant } from '#libs/clock';
import { generateKeyPair, thumbprint, type KeyPair } from '../crypto/ec-key.js';
import type { Merchant } from '../merchants/merchant.js';
import type { MsgCode } from '../gateway/refusal.js';

/** A technical session as the gateway keeps it. */
export interface PlayedSession {
  /** Increases by one with each session of the sandbox. */
  readonly id: number;
  readonly merchant: string;
  readonly authToken: string;
  readonly deviceId: string;
  readonly refreshToken: string | undefined;
  readonly serverKey: KeyPair;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

interface Standing {
  readonly state: 'live' | 'expired' | 'superseded' | 'revoked';
  /** The code that a request presenting the session is refused with; undefined while it is live. */
  readonly msgCode?: MsgCode;
}

interface Entry {
  readonly session: PlayedSession;
  /** When a newer one takes its place. */
  supersededAt: Instant | undefined;
  /** The code with which it is refused after the bank has ended it. */
  revoked: MsgCode | undefined;
}

/** A merchant's older sessions are forgotten, so that a long run does not grow without bound. */
const MAX_PER_MERCHANT = 1_000;

/** Every session the gateway gave out, and which of them it still accepts. */
export class SessionBook {
  readonly #clock: Clock;
  readonly #byMerchant = new Map<string, Entry[]>();
  readonly #byDevice = new Map<string, Entry>();
  #lastId = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Creates a session for the merchant; if the merchant's sessions supersede, the older ones end after the grace
   * period.
   */
  create(merchant: Merchant, lifetimeMs: number): PlayedSession {
    const now = this.#clock.now();
    const session: PlayedSession = {
      id: (this.#lastId += 1),
      merchant: merchant.id,
      authToken: randomUUID(),
      deviceId: randomUUID(),
      refreshToken: merchant.form === 'full' ? randomUUID() : undefined,
      serverKey: generateKeyPair(),
      createdAt: now,
      expiresAt: plusMs(now, lifetimeMs),
    };
    const entries = this.#byMerchant.get(merchant.id) ?? [];
    if (merchant.supersedes) {
      const endsAt = plusMs(now, merchant.supersededGraceMs);
      for (const entry of entries) entry.supersededAt ??= endsAt;
    }
    this.#add(merchant.id, { session, supersededAt: undefined, revoked: undefined });
    return session;
  }

  byDevice(deviceId: string): PlayedSession | undefined {
    return this.#byDevice.get(deviceId)?.session;
  }

  /** Whether the gateway accepts the session now and, if not, the code it refuses it with. */
  standing(session: PlayedSession): Standing {
    const entry = this.#byDevice.get(session.deviceId);
    const now = this.#clock.now();
    if (entry === undefined) return { state: 'revoked', msgCode: 'b_unknown_device' };
    if (entry.revoked !== undefined) return { state: 'revoked', msgCode: entry.revoked };
    if (entry.supersededAt !== undefined && entry.supersededAt <= now) {
      return { state: 'superseded', msgCode: 'b_session_doesnt_exist' };
    }
    if (session.expiresAt <= now) return { state: 'expired', msgCode: 'b_expired_token' };
    return { state: 'live' };
  }

  /** Ends a session at once, as the bank can. @returns whether there is such a session */
  revoke(id: number, msgCode: MsgCode): boolean {
    return this.#revoke(msgCode, ({ session }) => session.id === id) === 1;
  }

  /** Ends every session, or every one of a merchant. @returns how many */
  revokeAll(merchant: string | undefined, msgCode: MsgCode): number {
    return this.#revoke(msgCode, ({ session }) => merchant === undefined || session.merchant === merchant);
  }

  /** What control requests may see: fingerprints in place of everything secret. */
  list(merchant?: string): readonly object[] {
    const entries = merchant === undefined ? [...this.#byDevice.values()] : (this.#byMerchant.get(merchant) ?? []);
    return entries.map(({ session }) => describeSession(session, this.standing(session)));
  }

  forget(merchant: string): void {
    for (const { session } of this.#byMerchant.get(merchant) ?? []) this.#byDevice.delete(session.deviceId);
    this.#byMerchant.delete(merchant);
  }

  reset(): void {
    this.#byMerchant.clear();
    this.#byDevice.clear();
  }

  #revoke(msgCode: MsgCode, isMeant: (entry: Entry) => boolean): number {
    const entries = [...this.#byDevice.values()].filter(isMeant);
    for (const entry of entries) entry.revoked = msgCode;
    return entries.length;
  }

  #add(merchant: string, entry: Entry): void {
    const entries = [...(this.#byMerchant.get(merchant) ?? []), entry];
    for (const { session } of entries.slice(0, -MAX_PER_MERCHANT)) this.#byDevice.delete(session.deviceId);
    this.#byMerchant.set(merchant, entries.slice(-MAX_PER_MERCHANT));
    this.#byDevice.set(entry.session.deviceId, entry);
  }
}

/** As control requests see it. */
function describeSession(session: PlayedSession, standing: Standing): object {
  const { id, merchant, createdAt, expiresAt, authToken, deviceId, refreshToken, serverKey } = session;
  return {
    ...{ id, merchant, ...standing },
    createdAt: toRfc3339(createdAt),
    expiresAt: toRfc3339(expiresAt),
    authTokenSha256: sha256(authToken),
    deviceIdSha256: sha256(deviceId),
    ...(refreshToken === undefined ? {} : { refreshTokenSha256: sha256(refreshToken) }),
    serverKeyThumbprint: thumbprint(serverKey.jwk),
  };
}

function sha256(value: string): string {
  return createHash('sha256').update(value).digest('hex');
}
