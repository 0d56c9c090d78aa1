import type { ClientKey } from '#libs/jwe';
import { keyedDigest, keyedKey } from '#libs/jwe';
import type { AliasClient } from './alias-client.js';

/** What a client presents, and the token it is given with it. Worthless anywhere but at this egress. */
export interface AliasCredentials {
  readonly deviceId: string;
  readonly refreshToken: string;
  readonly authToken: string;
}

/** Names the purpose and version of the derivation. Changing the version ends every alias session. */
const PURPOSE = 'session-egress/alias/v2';
const KEY_PURPOSE = 'session-egress/alias-key/v2';

/**
 * The credentials of a client under one of our keys. They follow from the configuration alone, so that all replicas
 * issue and recognise the same ones, before and after a restart; a different key, name, merchant or alias gives
 * different ones.
 */
export async function aliasCredentials(key: ClientKey, client: AliasClient): Promise<AliasCredentials> {
  const parts = partsOf(client);
  const derive = async (member: keyof AliasCredentials): Promise<string> =>
    uuidOf(await keyedDigest(key, PURPOSE, [member, ...parts]));
  const [deviceId, refreshToken, authToken] = await Promise.all([
    derive('deviceId'),
    derive('refreshToken'),
    derive('authToken'),
  ]);
  return { deviceId, refreshToken, authToken };
}

/** The key that a client seals its bodies to: its own, so that no body of one client is good for another. */
export function aliasKey(key: ClientKey, client: AliasClient): Promise<ClientKey> {
  return keyedKey(key, KEY_PURPOSE, partsOf(client));
}

function partsOf({ name, merchant, serviceCode }: AliasClient): readonly string[] {
  return [name, merchant, serviceCode];
}

/**
 * 122 bits of a digest as a UUID (RFC 9562). Version 4 rather than 8: they are indistinguishable from random bits, and
 * published clients may check for versions older than 8.
 */
function uuidOf(digest: string): string {
  const octets = Buffer.from(digest, 'base64url').subarray(0, 16);
  octets.writeUInt8((octets.readUInt8(6) & 0x0f) | 0x40, 6);
  octets.writeUInt8((octets.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = octets.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
