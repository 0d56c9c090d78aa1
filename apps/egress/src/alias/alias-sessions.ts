import type { Clock } from '#libs/clock';
import type { EgressClient } from '#libs/configuration';
import { digestOf } from '#libs/edge';
import { BrokerError } from '#libs/errors';
import { type ClientKey, openJwe, prepareSeal, type RecipientKey, sealJwe } from '#libs/jwe';
import { type GatewayError, writeGatewayError } from '../answers/gateway-error.js';
import { type AliasClient, aliasClientsAmong } from './alias-client.js';
import { type AliasCredentials, aliasCredentials, aliasKey } from './alias-credentials.js';
import { AliasIndex } from './alias-index.js';
import { aliasSessionPlaintext } from './alias-session-plaintext.js';
import { aliasNamedBy, type CreateRequest } from './create-request.js';

interface AliasSessionsOptions {
  readonly clients: readonly EgressClient[];
  /**
   * Our keys, newest first: sessions are issued under the first, and recognised under all of them. The configuration
   * has one where a client has an alias.
   */
  readonly keys: readonly ClientKey[];
  readonly clock: Clock;
}

export interface AliasAnswer {
  readonly status: number;
  /** JSON. */
  readonly body: string;
  /** Its name; undefined if no client has the alias, or none was named. */
  readonly client: string | undefined;
  readonly merchant?: string;
}

interface Given extends AliasCredentials {
  readonly client: EgressClient;
  /** Its own, newest first, each made from one of ours. */
  readonly keys: readonly [ClientKey, ...ClientKey[]];
}

interface AliasParts {
  readonly options: AliasSessionsOptions;
  readonly index: AliasIndex;
  /** By the digest of the alias, which is a secret. */
  readonly byAlias: ReadonlyMap<string, Given>;
}

/** A compact JWE of a plaintext of 64 KiB, which is what a sealed route takes, with its header and key. */
const MAX_JWE_BYTES = 90_112;
/** The bank's answer is already there: it is sealed whatever its length, as long as it could be opened. */
const MAX_ANSWER_BYTES = 262_144;

const unknownAlias: GatewayError = {
  status: 200,
  msgCode: 'b_merchant_not_found',
  msgType: 'ERROR',
  msgText: 'There is no merchant with this service code',
};

/**
 * Sessions for clients that authorize for themselves. They look like the gateway's and are worthless there. They are
 * not stored: they follow from the configuration, identically on every replica, and end when the key or the alias is
 * removed from it.
 */
export class AliasSessions {
  readonly #options: AliasSessionsOptions;
  readonly #index: AliasIndex;
  readonly #byAlias: ReadonlyMap<string, Given>;

  private constructor({ options, index, byAlias }: AliasParts) {
    this.#options = options;
    this.#index = index;
    this.#byAlias = byAlias;
  }

  /** Derives everything from the configuration, once. */
  static async create(options: AliasSessionsOptions): Promise<AliasSessions> {
    const index = new AliasIndex();
    const clients = aliasClientsAmong(options.clients);
    const given = await Promise.all(clients.map((client) => enter(index, options.keys, client)));
    return new AliasSessions({ options, index, byAlias: new Map(given) });
  }

  /** The client that these two headers were issued to; undefined for anyone else. Constant time in the secrets. */
  find(deviceId: string, refreshToken: string): EgressClient | undefined {
    return this.#index.find(deviceId, refreshToken);
  }

  /** Answers a create call in the gateway's own form, without a call to the bank. */
  async create(request: CreateRequest, requestId: string): Promise<AliasAnswer> {
    const named = aliasNamedBy(request);
    if ('refused' in named) return { ...writeGatewayError(named.refused, requestId), client: undefined };
    const given = this.#byAlias.get(digestOf(named.serviceCode));
    if (given === undefined) return { ...writeGatewayError(unknownAlias, requestId), client: undefined };
    const createdAt = this.#options.clock.now();
    const plaintext = aliasSessionPlaintext({ ...given, serverPublic: given.keys[0].publicJwk, createdAt });
    const { name: client, merchant } = given.client;
    return { status: 200, body: await this.seal(given.client, plaintext), client, merchant };
  }

  /**
   * Opens what a client sealed to a key of its own, the newest or an older one.
   * @throws BrokerError `jwe_malformed`, `jwe_too_large`, `jwe_algorithm_refused`, `jwe_not_opened`
   */
  async open({ name, alias }: EgressClient, jwe: string): Promise<Uint8Array> {
    const given = this.#byAlias.get(digestOf(alias?.serviceCode ?? ''));
    if (given === undefined) throw new BrokerError('internal_error', { detail: `the client ${name} has no alias` });
    return (await openJwe(jwe, given.keys, { maxBytes: MAX_JWE_BYTES })).plaintext;
  }

  /**
   * Seals an answer to the client's own key.
   * @returns the gateway's form `{"jwe": …}` as text
   * @throws BrokerError `jwe_too_large`
   */
  async seal(client: EgressClient, plaintext: Uint8Array): Promise<string> {
    return JSON.stringify({ jwe: await sealJwe(plaintext, keyOf(client), { maxBytes: MAX_ANSWER_BYTES }) });
  }

  /** Makes ready what the next answer to this client needs in order to be sealed, once one is over. Never rejects. */
  async prepareSeal(client: EgressClient): Promise<void> {
    await prepareSeal(keyOf(client));
  }
}

async function enter(
  index: AliasIndex,
  keys: readonly ClientKey[],
  of: AliasClient,
): Promise<readonly [string, Given]> {
  const credentials = await Promise.all(keys.map((key) => aliasCredentials(key, of)));
  const own = await Promise.all(keys.map((key) => aliasKey(key, of)));
  for (const one of credentials) index.add(one, of.client);
  const [newest] = credentials as [AliasCredentials];
  return [digestOf(of.serviceCode), { ...newest, client: of.client, keys: own as [ClientKey, ...ClientKey[]] }];
}

function keyOf({ name, alias }: EgressClient): RecipientKey {
  if (alias === undefined) throw new BrokerError('internal_error', { detail: `the client ${name} has no key` });
  return alias.publicKey;
}
