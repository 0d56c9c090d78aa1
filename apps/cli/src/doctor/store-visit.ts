import type { Clock } from '#libs/clock';
import type { StoreConfiguration } from '#libs/configuration';
import { grantingLine } from './store-user.js';
import { speaksTls } from '#libs/outbound';
import { redisConnection, RedisInspection, type ServerFacts, type StoreInspectionFailure } from '#libs/store';

const HANDSHAKE_LIMIT_MS = 5_000;
const PLACE = /^(?:\[(.+)\]|([^,\s]+)):(\d+)(?:,|$)/;
/** Redis itself has answered. */
const OF_AN_ANSWER = /^(?:WRONGPASS|NOAUTH|NOPERM|DENIED|MAXCLIENTS|LOADING)$/;

/** One look at the store that several checks share: connected once, and asked for its facts once. */
export class StoreVisit {
  readonly #store: Extract<StoreConfiguration, { type: 'redis' }>;
  readonly #clock: Clock;
  #inspection: Promise<RedisInspection> | undefined;
  #servers: Promise<readonly ServerFacts[]> | undefined;

  constructor(store: Extract<StoreConfiguration, { type: 'redis' }>, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  get keyPrefix(): string {
    return this.#store.keyPrefix;
  }

  get grantingLine(): string {
    return grantingLine(this.#store);
  }

  /** @throws StoreInspectionFailure */
  inspection(): Promise<RedisInspection> {
    const { keyPrefix } = this.#store;
    const connection = redisConnection(this.#store);
    this.#inspection ??= RedisInspection.open({ connection, keyPrefix, clock: this.#clock });
    return this.#inspection;
  }

  /** Whether TLS is spoken where a connection without it has failed. */
  async wantsTls({ place, mark }: StoreInspectionFailure, signal: AbortSignal): Promise<boolean> {
    const { tls } = redisConnection(this.#store);
    const [, bracketed, name = bracketed, port] = PLACE.exec(place) ?? [];
    if (tls !== undefined || name === undefined || OF_AN_ANSWER.test(mark)) return false;
    const bounds = { clock: this.#clock, signal, limitMs: HANDSHAKE_LIMIT_MS };
    return speaksTls({ host: name, port: Number(port) }, bounds);
  }

  servers(): Promise<readonly ServerFacts[]> {
    this.#servers ??= this.inspection().then((inspection) => inspection.servers());
    return this.#servers;
  }

  /** Also ends what is still under way. Idempotent. */
  async close(): Promise<void> {
    if (this.#inspection === undefined) return;
    const [opened] = await Promise.allSettled([this.#inspection]);
    if (opened.status === 'fulfilled') opened.value.close();
  }
}
