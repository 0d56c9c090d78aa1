import { randomUUID } from 'node:crypto';
import type { Clock } from '#libs/clock';
import { createLogger } from '#libs/telemetry';
import { openCompact, sealCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { generateKeyPair, readPublicKey, type KeyPair, type PublicJwk } from '../../apps/sandbox/src/crypto/ec-key.js';
import { startSandbox, type SandboxOptions } from '../../apps/sandbox/src/sandbox.js';
import { type ControlRequest, sandboxControl } from './sandbox-control.js';

/** The plaintext of a session, as a merchant reads it. */
export interface ReadSession {
  readonly authToken: string;
  readonly deviceId: string;
  readonly refreshToken?: string;
  readonly serverPublic?: PublicJwk;
  readonly serverPublicKey?: PublicJwk;
  readonly tokenExpirationDateTime?: string;
  readonly tokenExpiration?: string;
  readonly sessionExpiration?: string;
}

export interface LoggedCalls {
  readonly total: number;
  readonly inFlight: number;
  readonly matching: number;
  readonly timedOut: boolean;
  /** As docs/reference/sandbox.md lists their members. */
  readonly calls: readonly Readonly<Record<string, unknown>>[];
}

export interface SentRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export const AUTHORIZE = '/api-gateway/authorize_virtual_device';

/** A sandbox in this process, and one of its merchants, both as a client sees them: over HTTP only. */
export class RunningSandbox {
  readonly url: string;
  readonly serviceCode = randomUUID();
  readonly own: KeyPair = generateKeyPair();
  readonly lines: string[];
  readonly close: () => Promise<void>;

  private constructor(sandbox: { url: string; close(): Promise<void> }, lines: string[]) {
    this.url = sandbox.url;
    this.close = () => sandbox.close();
    this.lines = lines;
  }

  static async start(clock: Clock, options: Partial<SandboxOptions> = {}): Promise<RunningSandbox> {
    const lines: string[] = [];
    const logger = createLogger({ name: 'sandbox', clock, destination: { write: (line) => void lines.push(line) } });
    return new RunningSandbox(await startSandbox({ host: '127.0.0.1', port: 0, clock, logger, ...options }), lines);
  }

  /** JSON unless the body is text. */
  send(path: string, { method = 'POST', headers = {}, body, signal }: SentRequest = {}): Promise<Response> {
    const type = typeof body === 'string' ? 'text/plain' : 'application/json';
    return fetch(this.url + path, {
      method,
      redirect: 'manual',
      headers: { ...(body === undefined ? {} : { 'content-type': type }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** A control request that has to succeed. */
  control<T = unknown>(path: string, { method = 'POST', body }: Partial<ControlRequest> = {}): Promise<T> {
    return sandboxControl(this.url, { method, path, body }) as Promise<T>;
  }

  /** Registers the merchant, or changes it. */
  register(members: object = {}): Promise<unknown> {
    return this.control('/merchants', {
      body: { id: 'shop', serviceCode: this.serviceCode, publicJwk: this.own.jwk, ...members },
    });
  }

  fault(fault: object): Promise<{ readonly id: number }> {
    return this.control('/faults', { body: fault });
  }

  calls(query = ''): Promise<LoggedCalls> {
    return this.control(`/calls${query}`, { method: 'GET' });
  }

  authorize({ headers = {}, body = {}, signal }: SentRequest = {}): Promise<Response> {
    return this.send(AUTHORIZE, {
      headers: { 'x-api_version': '1', ...headers },
      body: { serviceCode: this.serviceCode, ...(body as object) },
      ...(signal === undefined ? {} : { signal }),
    });
  }

  async read(response: Response): Promise<ReadSession> {
    return JSON.parse(await this.open(response)) as ReadSession;
  }

  async open(response: Response): Promise<string> {
    const { jwe } = (await response.json()) as { readonly jwe: string };
    return openCompact(jwe, this.own).toString('utf8');
  }

  async session(): Promise<ReadSession> {
    return this.read(await this.authorize());
  }

  echo(session: ReadSession, headers: Readonly<Record<string, string>> = {}, payload = 'payload'): Promise<Response> {
    return this.send('/api-gateway/echo', {
      headers: {
        'x-api_version': '1',
        'x-device_id': session.deviceId,
        authorization: `Bearer ${session.authToken}`,
        ...(session.refreshToken === undefined ? {} : { 'x-refresh_token': session.refreshToken }),
        ...headers,
      },
      body: sealCompact(payload, readPublicKey(session.serverPublic ?? session.serverPublicKey)),
    });
  }
}

export async function msgCodeOf(response: Response): Promise<unknown> {
  return ((await response.json()) as { readonly msgCode?: unknown }).msgCode;
}
