import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { compactDecrypt, CompactEncrypt, type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose';

const ALG = 'ECDH-ES+A256KW';

interface KeyPair {
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly publicJwk: JWK;
}

async function keyPair(): Promise<KeyPair> {
  const pair = await generateKeyPair(ALG, { crv: 'P-384', extractable: true });
  return { ...pair, publicJwk: await exportJWK(pair.publicKey) };
}

const seal = (payload: object, key: CryptoKey): Promise<string> =>
  new CompactEncrypt(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: ALG, enc: 'A256GCM' })
    .encrypt(key);
const open = async (jwe: string, key: CryptoKey): Promise<Record<string, unknown>> =>
  JSON.parse(Buffer.from((await compactDecrypt(jwe, key)).plaintext).toString()) as Record<string, unknown>;

/**
 * A broker and the gateway behind it on one port, each with its own keys: the broker opens what is sealed to the
 * merchant; the gateway refuses sessions below `livesFrom` and answers refunds that are sealed to the session's key.
 */
export class RefundingGateway {
  readonly refunds: { readonly generation: number; readonly body: Record<string, unknown> }[] = [];
  readonly refusals: number[] = [];
  readonly rejections: object[] = [];
  livesFrom = 1;
  refusal: { readonly status: number; readonly msgCode: string } = { status: 401, msgCode: 'b_session_doesnt_exist' };
  #generation = 1;

  private constructor(
    private readonly server: Server,
    readonly merchant: KeyPair,
    private readonly sessions: readonly KeyPair[],
  ) {}

  static async start(): Promise<RefundingGateway> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const [merchant, first, second] = await Promise.all([keyPair(), keyPair(), keyPair()]);
    const gateway = new RefundingGateway(server, merchant, [first, second]);
    server.on('request', (request, response) => {
      gateway.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
    return gateway;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const [status, answer] = await this.#routed(request, body);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }

  async #routed({ url = '', headers }: IncomingMessage, body: string): Promise<[number, object]> {
    if (url.endsWith('/refund')) return this.#refund(Number(headers['x-device_id']), body);
    if (url.endsWith('/session')) return [200, this.#session()];
    if (url.endsWith('/session/rejections')) {
      this.rejections.push(JSON.parse(body) as object);
      this.#generation = 2;
      return [200, this.#session()];
    }
    if (!url.endsWith('/payloads/decrypt')) return [404, { code: 'route_not_found' }];
    const { jwe } = JSON.parse(body) as { jwe: string };
    return [200, { plaintext: JSON.stringify(await open(jwe, this.merchant.privateKey)), encoding: 'utf8' }];
  }

  async #refund(generation: number, jwe: string): Promise<[number, object]> {
    const keys = this.sessions[generation - 1];
    if (keys === undefined || generation < this.livesFrom) {
      this.refusals.push(generation);
      return [this.refusal.status, { msgCode: this.refusal.msgCode, msgType: 'ERROR', msgText: 'Text' }];
    }
    const body = await open(jwe, keys.privateKey);
    this.refunds.push({ generation, body });
    const answer = { type: 'REFUND', status: 'PENDING', operationId: body['operationId'] };
    return [200, { jwe: await seal(answer, this.merchant.publicKey) }];
  }

  #session(): object {
    const generation = this.#generation;
    const { kty, crv, x, y } = this.sessions[generation - 1]?.publicJwk ?? {};
    const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
    return {
      merchant: 'shop',
      generation,
      authToken: 'auth-token',
      deviceId: String(generation),
      refreshToken: 'refresh-token',
      serverPublic: { kty, crv, x, y },
      clientKeyThumbprint: 'thumbprint',
      createdAt: at(0),
      expiresAt: at(900_000),
      renewAt: at(800_000),
      expiresInMs: 900_000,
      renewInMs: 800_000,
    };
  }
}
