import { toldCall } from '#libs/causes';
import { type Clock, instantFromEpochMs, type Instant } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { Redis } from 'ioredis';
import type { ServerOptions } from '../connection-profile.js';
import { nameOf, type RedisAddress } from '../redis-connection.js';
import {
  describeRedisError,
  isRefusedHandshake,
  isUntrusted,
  judgeRedisError,
  NO_DATABASE,
  NOT_REDIS,
} from '../redis-failure.js';
import { reportingRefusedGreeting } from '../redis-links.js';

/**
 * `refused`: a person has to fix rights, passwords, certificates or the address. `unreachable`: it may resolve itself.
 */
type InspectionFailureKind = 'refused' | 'unreachable';

/** The mark of a port that accepts connections but does not speak TLS. */
const NO_TLS = 'ERR_SSL_WRONG_VERSION_NUMBER';

/** A server of the store could not be inspected. */
export class StoreInspectionFailure extends BrokerError {
  readonly kind: InspectionFailureKind;
  /** The code of a reply or of the system, or a few words of ours: used to choose a remedy. */
  readonly mark: string;
  /** Host and port, if there are any, possibly followed by what was asked. */
  readonly place: string;

  constructor(place: string, error: unknown) {
    const { kind, reason } = judgeRedisError(error);
    const isPersons = kind === 'refused' || reason === NOT_REDIS;
    super(isPersons ? 'store_refused' : 'store_unavailable', { detail: detailOf(place, reason) });
    this.kind = isPersons ? 'refused' : 'unreachable';
    this.mark = reason;
    this.place = place;
  }
}

const said: Readonly<Record<string, (place: string) => string>> = {
  [NO_TLS]: (place) => `no TLS is spoken there, although the settings of the store ask for it (${place})`,
  [NOT_REDIS]: (place) => `what answers there is not Redis (${place})`,
  WRONGPASS: (place) => `the password is wrong, or the user (WRONGPASS from ${place})`,
  NOAUTH: (place) => `it wants a password, and none is configured (NOAUTH from ${place})`,
  DENIED: (place) => `it is in protected mode, which takes nobody from another machine (DENIED from ${place})`,
  MAXCLIENTS: (place) => `it has as many clients as it takes (MAXCLIENTS from ${place})`,
};

/** Uses the words of the gateway's failures if they say more than a code. */
function detailOf(place: string, reason: string): string {
  const own = said[reason]?.(place);
  if (own !== undefined) return own;
  if (NO_DATABASE.test(reason)) return `it has ${reason} (SELECT refused by ${place})`;
  if (isRefusedHandshake(reason)) return `${reason} (${place})`;
  const trace = { mark: reason, peer: place };
  if (isUntrusted(reason)) return toldCall({ kind: 'refused', trace }).text;
  return OF_THE_NETWORK.test(reason) ? toldCall({ kind: 'transient', trace }).text : `${place}: ${reason}`;
}

const OF_THE_NETWORK = /^(?:E(?:CONN|HOST|NET|NOTFOUND|AI_|TIMEDOUT|PIPE)[A-Z]*|EAI_AGAIN)$/;

/** The answer to a command; an error only by its code (`NOPERM`, `MOVED`, …) and what it is about. */
export type InspectedReply =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'error'; readonly code: string; readonly lacks: 'command' | 'key' | 'channel' | undefined };

/** The server's clock relative to ours: the true difference lies between the two. Positive: it is ahead. */
interface ClockDifference {
  readonly leastMs: number;
  readonly mostMs: number;
}

/**
 * The facts about one server that decide whether it can be the store; a fact is absent if it is not shown to this user.
 */
export interface ServerFacts {
  readonly address: string;
  readonly version?: string;
  readonly role?: string;
  readonly clusterEnabled?: boolean;
  readonly evictionPolicy?: string;
  readonly clock?: ClockDifference;
  /** When the certificate that the server presented ends. */
  readonly certificateEndsAt?: Instant;
}

/**
 * A single connection that is never re-established by itself and asks only what it is told to ask: the ready check of
 * the library would need additional rights.
 */
export class InspectedServer {
  readonly name: string;
  readonly #address: RedisAddress;
  readonly #profile: ServerOptions;
  readonly #client: Redis;

  /** @throws StoreInspectionFailure */
  static async connect(address: RedisAddress, profile: ServerOptions): Promise<InspectedServer> {
    const server = new InspectedServer(address, profile);
    await server.#open();
    return server;
  }

  private constructor(address: RedisAddress, profile: ServerOptions) {
    this.name = nameOf(address);
    this.#address = address;
    this.#profile = profile;
    const client = new Redis({
      ...profile,
      lazyConnect: true,
      enableReadyCheck: false,
      retryStrategy: () => null,
      reconnectOnError: () => false,
    });
    this.#client = reportingRefusedGreeting(client);
  }

  /** @throws StoreInspectionFailure if there is no answer at all; an error reply is an answer */
  async ask(command: string, ...args: readonly string[]): Promise<InspectedReply> {
    try {
      return { kind: 'value', value: await this.#client.call(command, ...args) };
    } catch (error) {
      if (!isReply(error)) throw new StoreInspectionFailure(`${this.name}, ${command}`, error);
      return { kind: 'error', code: describeRedisError(error), lacks: lackIn(error) };
    }
  }

  async facts(clock: Clock): Promise<ServerFacts> {
    const info = await this.ask('INFO');
    const fields = info.kind === 'value' ? infoFields(String(info.value)) : new Map<string, string>();
    const difference = await this.#clockDifference(clock);
    const endsAt = this.#certificateEnd();
    return {
      address: this.name,
      ...present('version', fields.get('redis_version')),
      ...present('role', fields.get('role')),
      ...(fields.has('cluster_enabled') ? { clusterEnabled: fields.get('cluster_enabled') === '1' } : {}),
      ...present('evictionPolicy', fields.get('maxmemory_policy')),
      ...present('clock', difference),
      ...present('certificateEndsAt', endsAt),
    };
  }

  close(): void {
    // Disconnecting a closed client would leave a timer of the library running.
    if (this.#client.status !== 'end') this.#client.disconnect();
  }

  async #open(): Promise<void> {
    let first: unknown;
    // The library reports the reason through an event, and rejects with nothing more than "closed".
    this.#client.on('error', (error: unknown) => (first ??= error));
    try {
      await this.#client.connect();
      if (first === undefined) return;
    } catch (error) {
      first ??= error;
    }
    this.close();
    const isSilent = await this.#speaksNoTls(first);
    throw new StoreInspectionFailure(this.name, isSilent ? Object.assign(new Error(NO_TLS), { code: NO_TLS }) : first);
  }

  /** Redis waits for the rest of what it takes to be a command: to a client, it looks as if nobody were there. */
  async #speaksNoTls(error: unknown): Promise<boolean> {
    const { tls } = this.#profile;
    if (tls === undefined || describeRedisError(error) !== 'ETIMEDOUT') return false;
    return isOpenPort(this.#address, this.#profile);
  }

  async #clockDifference(clock: Clock): Promise<ClockDifference | undefined> {
    const askedAt = clock.now();
    const reply = await this.ask('TIME');
    const answeredAt = clock.now();
    if (reply.kind === 'error' || !Array.isArray(reply.value)) return undefined;
    const [seconds, microseconds] = reply.value.map(Number) as [number, number];
    const serverMs = seconds * 1_000 + microseconds / 1_000;
    return { leastMs: serverMs - answeredAt, mostMs: serverMs - askedAt };
  }

  #certificateEnd(): Instant | undefined {
    const { stream } = this.#client as { readonly stream?: MaybeEncrypted };
    const endsAt = Date.parse(stream?.getPeerCertificate?.().valid_to ?? '');
    return Number.isNaN(endsAt) ? undefined : instantFromEpochMs(endsAt);
  }
}

interface MaybeEncrypted {
  readonly getPeerCertificate?: () => { readonly valid_to?: string };
}

const present = <Name extends string, Value>(name: Name, value: Value | undefined): { [K in Name]?: Value } =>
  value === undefined ? {} : ({ [name]: value } as { [K in Name]: Value });

const isReply = (error: unknown): error is Error => error instanceof Error && error.name === 'ReplyError';

function lackIn({ message }: Error): 'command' | 'key' | 'channel' | undefined {
  if (!message.startsWith('NOPERM')) return undefined;
  if (/\bchannels?\b/i.test(message)) return 'channel';
  return /\bkeys?\b/i.test(message) ? 'key' : 'command';
}

/** `name:value` lines under `# Section` headings. */
function infoFields(text: string): ReadonlyMap<string, string> {
  const pairs = text.split(/\r?\n/).flatMap((line): [string, string][] => {
    const colon = line.indexOf(':');
    return colon < 1 || line.startsWith('#') ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
  });
  return new Map(pairs);
}

/** Whether something accepts connections there, whatever protocol it speaks. Does not reveal who is asking. */
async function isOpenPort(address: RedisAddress, { connectTimeout = 0 }: ServerOptions): Promise<boolean> {
  const client = new Redis({
    ...address,
    connectTimeout,
    lazyConnect: true,
    enableReadyCheck: false,
    disableClientInfo: true,
    retryStrategy: () => null,
  });
  let isOpen = false;
  client.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    client.once('connect', () => {
      isOpen = true;
      resolve();
    });
    client.connect().then(resolve, () => resolve());
  });
  // Disconnecting a closed client would leave a timer of the library running.
  if (client.status !== 'end') client.disconnect();
  return isOpen;
}
