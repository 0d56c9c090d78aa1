import type { Clock } from '#libs/clock';
import type { StoreConfiguration } from '#libs/configuration';
import {
  NO_DATABASE,
  redisConnection,
  RedisInspection,
  type ServerFacts,
  type StoreInspectionFailure,
} from '#libs/store';
import { isTlsInstead } from '../tls-instead.js';
import { grantingLine } from './store-user.js';

const PLACE = /^(?:\[(.+)\]|([^,\s]+)):(\d+)(?:,|$)/;
/** Means that Redis itself answered. */
const OF_AN_ANSWER = /^(?:WRONGPASS|NOAUTH|NOPERM|DENIED|MAXCLIENTS|LOADING)$/;

/** One look at the store, shared by several checks: it connects once and asks for the facts once. */
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

  /** Whether the port speaks TLS after a connection without it has failed. */
  async wantsTls({ place, mark }: StoreInspectionFailure, signal: AbortSignal): Promise<boolean> {
    const { tls } = redisConnection(this.#store);
    const [, bracketed, name = bracketed, port] = PLACE.exec(place) ?? [];
    if (tls !== undefined || name === undefined) return false;
    const end = { isCutOff: !OF_AN_ANSWER.test(mark) && !NO_DATABASE.test(mark) };
    return isTlsInstead(end, { host: name, port: Number(port) }, { clock: this.#clock, signal });
  }

  servers(): Promise<readonly ServerFacts[]> {
    this.#servers ??= this.inspection().then((inspection) => inspection.servers());
    return this.#servers;
  }

  /** Also ends whatever is still under way. Idempotent. */
  async close(): Promise<void> {
    if (this.#inspection === undefined) return;
    const [opened] = await Promise.allSettled([this.#inspection]);
    if (opened.status === 'fulfilled') opened.value.close();
  }
}
