import type { EgressClient } from '#libs/configuration';
import { type ClientKey, generateClientKey, importClientKey, importPaymentKey, openJwe, sealJwe } from '#libs/jwe';
import type { PublicJwk } from '#libs/jwe';

/** For the specs in this folder: a client that authorizes for itself, with its throwaway key. */
export interface AliasParty {
  readonly client: EgressClient;
  readonly key: ClientKey;
  /** Opens what was sealed to the client. */
  readonly openText: (body: string) => Promise<string>;
}

/** A separate client has its own limits. */
const MAX_BYTES = 1_048_576;

export const SERVICE_CODE = 'c0ffee00-0368-41ed-b939-0242ac120002';

export async function anAliasParty(
  overrides: Partial<EgressClient> & { serviceCode?: string } = {},
): Promise<AliasParty> {
  const { privateJwk, publicJwk } = await generateClientKey();
  const key = await importClientKey(privateJwk);
  const { serviceCode = SERVICE_CODE, ...members } = overrides;
  const alias = { serviceCode, publicKey: await importPaymentKey(publicJwk) };
  const client = { name: 'shop', merchant: 'shop', tokenDigests: [], alias, ...members };
  const openText = async (body: string): Promise<string> => {
    const { jwe } = JSON.parse(body) as { readonly jwe: string };
    return Buffer.from((await openJwe(jwe, [key], { maxBytes: MAX_BYTES })).plaintext).toString('utf8');
  };
  return { client, key, openText };
}

export async function anAliasKey(): Promise<ClientKey> {
  return importClientKey((await generateClientKey()).privateJwk);
}

/** As a client does: to the key in its session. */
export async function sealTo(serverPublic: PublicJwk, text: string): Promise<string> {
  return sealJwe(Buffer.from(text, 'utf8'), await importPaymentKey(serverPublic), { maxBytes: MAX_BYTES });
}
