import { fail } from 'node:assert/strict';
import { importPaymentKey, sealJwe } from '#libs/jwe';
import type { ProgramProcess } from '../e2e/program-process.js';
import { type Replica, TOKEN, WatchedReplicas } from '../observability/watched-replicas.js';

interface HsmBrokerSetUp {
  readonly privateJwk: Readonly<Record<string, string>>;
  /** The content of the merchant's key files, newest first. */
  readonly keyFiles: readonly string[];
  /** The module that they name, if any. */
  readonly module?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly lifetimeMs?: number;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A broker as a process, whose client key may be in a token. */
export class HsmBroker {
  readonly #watched: WatchedReplicas;
  readonly #broker: Replica;

  static async start({ module, environment = {}, lifetimeMs = 60_000, ...keys }: HsmBrokerSetUp): Promise<HsmBroker> {
    const shop = { id: 'shop', lifetimeMs, timeout: '1s', required: true, ...keys };
    const sections = { pkcs11: { modules: module === undefined ? [] : [module] } };
    return new HsmBroker(await WatchedReplicas.alone([shop], { environment, sections }));
  }

  private constructor(watched: WatchedReplicas) {
    this.#watched = watched;
    this.#broker = watched.replicas[0] ?? fail('it has not been started');
  }

  get process(): ProgramProcess {
    return this.#broker.process;
  }

  async session(): Promise<Answer> {
    return answerOf(await this.#watched.ask('shop', '/session', {}));
  }

  generation(): Promise<number> {
    return this.#watched.generationOf('shop');
  }

  /** What the broker shows about the merchant. */
  async merchant(): Promise<Readonly<Record<string, unknown>>> {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await fetch(`${this.#broker.url}/v1/merchants`, { headers });
    const { merchants } = (await answer.json()) as { merchants: Record<string, unknown>[] };
    return merchants[0] ?? {};
  }

  /** What the gateway seals to the merchant, opened by the broker. */
  async decrypt(plaintext: string): Promise<Answer> {
    const { d: _private, ...publicJwk } = this.#watched.privateJwks[0] ?? fail('there is no key');
    const jwe = await sealJwe(Buffer.from(plaintext), await importPaymentKey(publicJwk));
    const body = JSON.stringify({ jwe });
    return answerOf(await this.#watched.ask('shop', '/payloads/decrypt', { method: 'POST', body }));
  }

  /** Create calls that the gateway has received. */
  createCalls(): Promise<number> {
    return this.#watched.createCalls();
  }

  async end(): Promise<void> {
    this.process.signal('SIGTERM');
    await this.process.ended;
    await this.#watched.stop();
  }
}

async function answerOf(response: Response): Promise<Answer> {
  const body = (await response.json()) as Answer['body'];
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body };
}
