import { instantFromEpochMs } from '#libs/clock';
import type { webcrypto } from 'node:crypto';
import {
  type ClientKey,
  type ClientKeys,
  FileClientKeys,
  generateClientKey,
  importClientKey,
  importServerKey,
  sealJwe,
} from '#libs/jwe';
import type { AnswerHeaders } from '#libs/outbound';
import type { GatewayAnswer } from './gateway-answer.js';
import type { MerchantGateway } from './merchant-gateway.js';

/** For the specs of this lib: a merchant, and the gateway's half of the conversation. */
export interface TestParty {
  readonly key: ClientKey;
  readonly privateJwk: Readonly<Record<string, string>>;
  readonly publicJwk: Readonly<Record<string, string>>;
  /** Seals what the gateway would send to this party. */
  readonly seal: (content: unknown) => Promise<string>;
}

export async function aParty(): Promise<TestParty> {
  const { privateJwk, publicJwk } = await generateClientKey();
  const recipient = await importServerKey(publicJwk);
  const seal = (content: unknown): Promise<string> =>
    sealJwe(content instanceof Uint8Array ? content : new TextEncoder().encode(JSON.stringify(content)), recipient);
  return { key: await importClientKey(privateJwk), privateJwk, publicJwk, seal };
}

/** Custody of a party's private key. */
export async function custodyOf({ privateJwk }: TestParty): Promise<ClientKeys> {
  const { kty, crv, x, y, d } = privateJwk;
  const jwk = { kty, crv, x, y, d } as webcrypto.JsonWebKey;
  const agreement = await crypto.subtle.importKey('jwk', jwk, { name: 'ECDH', namedCurve: 'P-384' }, false, [
    'deriveBits',
  ]);
  return new FileClientKeys(agreement);
}

/** The four members of its key that the gateway sends. */
export function serverPublicOf({ publicJwk }: TestParty): Readonly<Record<string, unknown>> {
  const { kty, crv, x, y } = publicJwk;
  return { kty, crv, x, y };
}

export const AUTH_TOKEN = '137d9304-0368-11ed-b939-0242ac120002';
export const DEVICE_ID = '7B2F1C1E-9F0A-4E55-8F0B-0D7C1A2B3C4D';
export const SERVICE_CODE = 'c0ffee00-0368-11ed-b939-0242ac120002';

export function sessionFields(server: TestParty): Record<string, unknown> {
  return { authToken: AUTH_TOKEN, deviceId: DEVICE_ID, serverPublic: serverPublicOf(server) };
}

export const RECEIVED_AT = instantFromEpochMs(Date.UTC(2026, 0, 1));

export function anAnswer(
  body: unknown,
  { httpStatus = 200, headers = {} }: { readonly httpStatus?: number; readonly headers?: AnswerHeaders } = {},
): GatewayAnswer {
  const bytes = body instanceof Uint8Array ? body : new TextEncoder().encode(JSON.stringify(body));
  return { httpStatus, headers, body: { kind: 'complete', bytes }, sentAt: RECEIVED_AT, receivedAt: RECEIVED_AT };
}

export function aMerchantGateway(party: TestParty, overrides: Partial<MerchantGateway> = {}): MerchantGateway {
  return {
    merchant: 'shop',
    serviceCode: SERVICE_CODE,
    clientKeys: [party.key],
    baseUrl: new URL('http://127.0.0.1:9'),
    environment: 'test',
    timeoutMs: 5_000,
    requestData: { attach: 'none' },
    tls: { pins: [] },
    ...overrides,
  };
}
