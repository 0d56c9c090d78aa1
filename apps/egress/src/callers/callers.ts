import type { IncomingMessage } from 'node:http';
import type { EgressClient } from '#libs/configuration';
import { bearerTokenOf, type CertificateCallers, digestOf } from '#libs/edge';
import { BrokerError } from '#libs/errors';
import type { Logger } from '#libs/telemetry';
import type { AliasSessions } from '../alias/alias-sessions.js';

/** The form that a client uses: JSON and problem details, or the gateway's own. */
export type Form = 'plain' | 'alias';

export interface Caller {
  readonly client: EgressClient;
  readonly form: Form;
}

/** Published clients send either. */
const SPELLINGS = {
  device: ['x-device_id', 'x-device-id'],
  refresh: ['x-refresh_token', 'x-refresh-token'],
} as const;

/** A client that authorizes for itself, and then shows nothing: what nginx does to it by default. */
const NO_DEVICE =
  'no Authorization and no x-device_id: a proxy in front of the egress may drop headers with underscores (nginx: set underscores_in_headers on)';

const OF_TWO = 'the credentials are those of two clients';

interface CallersParts {
  readonly clients: readonly EgressClient[];
  readonly certificates: CertificateCallers;
  readonly alias: Pick<AliasSessions, 'find'>;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Identifies the caller by a bearer token, else by an alias session, else by a certificate. No one else gets past. */
export class Callers {
  readonly #parts: CallersParts;
  readonly #tokens: ReadonlyMap<string, Caller>;
  readonly #certificates: ReadonlyMap<string, Caller>;
  #isHintLogged = false;

  constructor(parts: CallersParts) {
    this.#parts = parts;
    const plain = parts.clients.map((client): Caller => ({ client, form: 'plain' }));
    this.#tokens = new Map(
      plain.flatMap((caller) => caller.client.tokenDigests.map((digest) => [digest, caller] as const)),
    );
    this.#certificates = new Map(
      plain.flatMap((caller) =>
        caller.client.certificate === undefined ? [] : [[caller.client.certificate, caller] as const],
      ),
    );
  }

  /**
   * An alias session beside a token or a certificate has to be that of the same client; beside a token, a certificate
   * does not count.
   * @throws BrokerError `unauthenticated`
   */
  identify(request: IncomingMessage): Caller {
    const { authorization } = request.headers;
    const byToken = authorization === undefined ? undefined : this.#byToken(authorization);
    const byAlias = this.#byAlias(request);
    if (byToken === undefined && byAlias === undefined && formShown(request) === 'alias') {
      throw unauthenticated('the alias session is not one of ours');
    }
    const other = byToken ?? this.#certified(request);
    const caller = byToken ?? byAlias ?? other;
    if (caller === undefined) throw this.#nothingShown();
    if (byAlias === undefined || other === undefined || byAlias.client.name === other.client.name) return caller;
    throw unauthenticated(OF_TWO);
  }

  /**
   * A token is looked up by its digest, which an attacker cannot steer byte by byte: how long that takes tells nothing.
   * Two headers come joined, and are no token.
   */
  #byToken(authorization: string): Caller {
    const token = bearerTokenOf(authorization);
    const caller = token === undefined ? undefined : this.#tokens.get(digestOf(token));
    if (caller === undefined) throw unauthenticated('the token is not that of a client');
    return caller;
  }

  /**
   * Some clients repeat a request with the device of their former session in one spelling, and that of the new one in
   * the other: what counts is the pair that is known.
   * @throws BrokerError `unauthenticated`
   */
  #byAlias(request: IncomingMessage): Caller | undefined {
    if (!showsDevice(request)) return undefined;
    const { headers } = request;
    const found = spelled(headers, 'device').flatMap((device) =>
      spelled(headers, 'refresh').flatMap((refresh) => this.#parts.alias.find(device, refresh) ?? []),
    );
    const [client, ...others] = new Set(found);
    if (others.length > 0) throw unauthenticated(OF_TWO);
    return client && { client, form: 'alias' };
  }

  #nothingShown(): BrokerError {
    const detail = 'neither a token, a certificate nor an alias session of a client';
    if (this.#parts.clients.every(({ alias }) => alias === undefined)) return unauthenticated(detail);
    if (!this.#isHintLogged) this.#parts.logger.warn({}, NO_DEVICE);
    this.#isHintLogged = true;
    return new BrokerError('unauthenticated', { detail, publicDetail: NO_DEVICE });
  }

  #certified({ socket }: IncomingMessage): Caller | undefined {
    const name = this.#parts.certificates.find(socket)?.name;
    return name === undefined ? undefined : this.#certificates.get(name);
  }
}

/** The form in which a request is refused before its sender is known; undefined where nothing tells it. */
export function formShown(request: IncomingMessage): Form | undefined {
  if (request.headers.authorization !== undefined) return 'plain';
  return showsDevice(request) ? 'alias' : undefined;
}

function showsDevice({ headers }: IncomingMessage): boolean {
  return SPELLINGS.device.some((name) => headers[name] !== undefined);
}

/** Sent twice in one spelling, it is joined by Node.js to a value that matches no one. */
function spelled(headers: IncomingMessage['headers'], part: keyof typeof SPELLINGS): readonly string[] {
  return SPELLINGS[part].flatMap((name) => headers[name] ?? []);
}

function unauthenticated(detail: string): BrokerError {
  return new BrokerError('unauthenticated', { detail });
}
