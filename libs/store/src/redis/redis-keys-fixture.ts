import { Redis } from 'ioredis';

/** Fields of a merchant's hash that begin with a moment. */
const MOMENTS = ['lease', 'publishedAt', 'cooledDownAt', 'due'];

/** One merchant's part of a store, as found by looking into Redis. */
interface StoredKeys {
  readonly hash: Readonly<Record<string, string>>;
  readonly calls: readonly (readonly [member: string, atMs: number])[];
  /** Time until the calls are forgotten; below 0 if there are no calls. */
  readonly callsEndInMs: number;
  readonly dueAtMs: number | undefined;
}

/** For the specs of this folder: a plain connection to the keys of one store on a single server. */
export class KeysInRedis {
  readonly client: Redis;
  readonly prefix: string;

  constructor(port: number, prefix: string) {
    this.client = new Redis(port, '127.0.0.1', { disableClientInfo: true });
    this.prefix = prefix;
  }

  get due(): string {
    return `${this.prefix}:{0}:due`;
  }

  hashOf(merchant: string): string {
    return `${this.prefix}:{0}:merchant:${merchant}`;
  }

  callsOf(merchant: string): string {
    return `${this.prefix}:{0}:calls:${merchant}`;
  }

  async of(merchant: string): Promise<StoredKeys> {
    const calls = await this.client.zrange(this.callsOf(merchant), '0', '-1');
    const score = await this.client.zscore(this.due, merchant);
    return {
      hash: await this.client.hgetall(this.hashOf(merchant)),
      calls: await Promise.all(
        calls.map(async (call) => [call, Number(await this.client.zscore(this.callsOf(merchant), call))] as const),
      ),
      callsEndInMs: await this.client.pttl(this.callsOf(merchant)),
      dueAtMs: score === null ? undefined : Number(score),
    };
  }

  /** The server's clock before and after the action, in whole milliseconds as scripts read it. */
  async during(act: () => Promise<unknown>): Promise<readonly [beganMs: number, endedMs: number]> {
    const beganMs = await this.#now();
    await act();
    return [beganMs, await this.#now()];
  }

  /** Moves every moment that is kept: forward as if the server's clock had been set back, or back as if it had run on. */
  async moveMoments(byMs: number): Promise<void> {
    for (const key of await this.client.keys(`${this.prefix}:*`)) {
      const expiresInMs = await this.client.pttl(key);
      if (expiresInMs > 0) await this.client.pexpire(key, expiresInMs + byMs);
      const kind = await this.client.type(key);
      if (kind === 'hash') await this.#moveFields(key, byMs);
      if (kind === 'zset') {
        for (const member of await this.client.zrange(key, '0', '-1')) await this.client.zincrby(key, byMs, member);
      }
    }
  }

  readonly close = (): void => this.client.disconnect();

  async #moveFields(key: string, byMs: number): Promise<void> {
    for (const [name, text] of Object.entries(await this.client.hgetall(key))) {
      const moved = text.replace(/^\d+/, (at) => String(Number(at) + byMs));
      if (MOMENTS.includes(name)) await this.client.hset(key, name, moved);
    }
  }

  async #now(): Promise<number> {
    const [seconds, micros] = await this.client.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }
}
