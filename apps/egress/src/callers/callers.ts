import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { EgressClient } from '#libs/configuration';
import {
  bearerTokenOf,
  type CertificateCallers,
  type ConfiguredHash,
  digestOf,
  HASH_PRESENTED,
  MistakenHashes,
} from '#libs/edge';
import { BrokerError } from '#libs/errors';
import type { Logger } from '#libs/telemetry';
import type { AliasSessions } from '../alias/alias-sessions.js';

/** The form that a client uses: JSON and problem details, or the gateway's own. */
export type Form = 'plain' | 'alias';

export interface Caller {
  readonly client: EgressClient;
  readonly form: Form;
}

interface CallersParts {
  readonly clients: readonly EgressClient[];
  readonly certificates: CertificateCallers;
  readonly alias: Pick<AliasSessions, 'find'>;
  readonly logger: Pick<Logger, 'warn'>;
}

interface KnownToken {
  readonly digest: Buffer;
  readonly caller: Caller;
}

/** Identifies the caller by a bearer token, else by an alias session, else by a certificate. No one else gets past. */
export class Callers {
  readonly #parts: CallersParts;
  readonly #tokens: ReadonlyMap<string, KnownToken>;
  readonly #mistakenHashes: MistakenHashes;
  readonly #certificates: ReadonlyMap<string, Caller>;

  constructor(parts: CallersParts) {
    this.#parts = parts;
    const plain = parts.clients.map((client): Caller => ({ client, form: 'plain' }));
    this.#tokens = new Map(
      plain.flatMap((caller) =>
        caller.client.tokenDigests.map((hex) => [hex, { digest: Buffer.from(hex, 'hex'), caller }] as const),
      ),
    );
    this.#mistakenHashes = new MistakenHashes(parts.clients.flatMap(hashesOf));
    this.#certificates = new Map(
      plain.flatMap((caller) =>
        caller.client.certificate === undefined ? [] : [[caller.client.certificate, caller] as const],
      ),
    );
  }

  /** @throws BrokerError `unauthenticated` */
  identify(request: IncomingMessage): Caller {
    const { authorization } = request.headers;
    if (authorization !== undefined) {
      if (isRepeated(request, 'authorization')) throw unauthenticated('there are two Authorization headers');
      return this.#byToken(authorization);
    }
    if (isOfAliasForm(request)) return this.#byAlias(request);
    return this.#byCertificate(request);
  }

  /** A token is looked up by its digest, which an attacker cannot steer byte by byte, and compared in constant time. */
  #byToken(authorization: string): Caller {
    const token = bearerTokenOf(authorization);
    const digest = token === undefined ? undefined : digestOf(token);
    const known = digest === undefined ? undefined : this.#tokens.get(digest);
    if (token !== undefined && known === undefined) this.#tellIfMistaken(token);
    if (digest === undefined || known === undefined) throw unauthenticated('the token is not that of a client');
    if (!timingSafeEqual(known.digest, Buffer.from(digest, 'hex'))) throw unauthenticated('the token is not known');
    return known.caller;
  }

  #tellIfMistaken(token: string): void {
    const mistaken = this.#mistakenHashes.noticedFirst(token);
    if (mistaken === undefined) return;
    const { setting, owner: client } = mistaken;
    this.#parts.logger.warn({ setting, client }, HASH_PRESENTED);
  }

  /** If the connection also presents a certificate, both have to identify the same client. */
  #byAlias(request: IncomingMessage): Caller {
    const client = this.#parts.alias.find(single(request, 'x-device_id'), single(request, 'x-refresh_token'));
    if (client === undefined) throw unauthenticated('the alias session is not one of ours');
    const certified = this.#certified(request);
    if (certified === undefined || certified.client.name === client.name) return { client, form: 'alias' };
    throw unauthenticated('the alias session is that of another client');
  }

  #byCertificate(request: IncomingMessage): Caller {
    const caller = this.#certified(request);
    if (caller === undefined) throw unauthenticated('neither a token nor a certificate of a client');
    return caller;
  }

  #certified({ socket }: IncomingMessage): Caller | undefined {
    const name = this.#parts.certificates.find(socket)?.name;
    return name === undefined ? undefined : this.#certificates.get(name);
  }
}

/** The former token comes after the current one, and is only configured together with it. */
function hashesOf({ name: owner, tokenDigests }: EgressClient, at: number): ConfiguredHash[] {
  return tokenDigests.map((sha256, age) => ({
    setting: `egress.clients[${at}].${age === 0 ? 'token' : 'formerToken'}.sha256`,
    owner,
    sha256,
  }));
}

/** Whether the request uses the gateway's form, so that a refusal uses it as well. */
export function isOfAliasForm({ headers }: IncomingMessage): boolean {
  return headers.authorization === undefined && headers['x-device_id'] !== undefined;
}

/** Node.js keeps only the first of some headers: a program in front of us may have judged by the second. */
function isRepeated({ rawHeaders }: IncomingMessage, name: string): boolean {
  let times = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const raw = rawHeaders[index];
    if (raw?.length === name.length && raw.toLowerCase() === name) times += 1;
  }
  return times > 1;
}

/** Node.js joins a header that is sent twice, and such a value matches no one. */
function single({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

function unauthenticated(detail: string): BrokerError {
  return new BrokerError('unauthenticated', { detail });
}
