import { openCompact, sealCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { type KeyPair, type PublicJwk, readPublicKey } from '../../apps/sandbox/src/crypto/ec-key.js';
import { exchange, type RawAnswer } from './raw-exchange.js';

export type Route = 'clear' | 'sealed';
export const ROUTES: readonly Route[] = ['clear', 'sealed'];
export type Members = Readonly<Record<string, unknown>>;

export const PATHS: Readonly<Record<Route, string>> = {
  clear: '/ecom/execute_request/hpp/v1/create-order',
  sealed: '/ecom/execute_request/payments/v3/refund',
};
export const CREATE = '/api-gateway/authorize_virtual_device';

/** An answer as a client understands it. */
export interface Answer extends RawAnswer {
  /** Its content: opened if it was sealed. */
  readonly text: string;
  /** The code of an error, in whichever form it came. */
  readonly code: string | undefined;
}

export interface CallerRequest {
  readonly path?: string;
  readonly headers?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface Caller {
  readonly form: 'plain' | 'alias';
  /** A payment on a route of this kind. */
  pay(route: Route, members: Members | string, request?: CallerRequest): Promise<Answer>;
  /** Secrets that must not get past the egress. */
  readonly secrets: readonly string[];
}

export interface AliasSession {
  readonly authToken: string;
  readonly deviceId: string;
  readonly refreshToken: string;
  readonly serverPublic: PublicJwk;
}

/** Knows nothing of sessions or cryptography. */
export class PlainCaller implements Caller {
  readonly form = 'plain';

  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  get secrets(): readonly string[] {
    return [this.token];
  }

  async pay(route: Route, members: Members | string, request: CallerRequest = {}): Promise<Answer> {
    const { path = PATHS[route], headers = [], ...rest } = request;
    const own = ['authorization', `Bearer ${this.token}`, 'content-type', 'application/json'];
    const body = typeof members === 'string' ? members : JSON.stringify(members);
    const raw = await exchange(this.url, { path, headers: [...own, ...headers], body, ...rest });
    return { ...raw, text: raw.body.toString('utf8'), code: codeOf(raw.body.toString('utf8')) };
  }
}

/** Authorizes for itself, seals and opens, as published clients do. */
export class AliasCaller implements Caller {
  readonly form = 'alias';
  #session: AliasSession | undefined;
  #creating: Promise<AliasSession> | undefined;

  constructor(
    private readonly url: string,
    private readonly own: { readonly serviceCode: string; readonly key: KeyPair },
  ) {}

  get secrets(): readonly string[] {
    const { deviceId = '-', refreshToken = '-', authToken = '-' } = this.#session ?? {};
    return [this.own.serviceCode, deviceId, refreshToken, authToken];
  }

  async create(): Promise<Answer> {
    const headers = ['x-api_version', 'v1', 'content-type', 'application/json'];
    const body = JSON.stringify({ serviceCode: this.own.serviceCode });
    return this.#read(await exchange(this.url, { path: CREATE, headers, body }), 'sealed');
  }

  /** One create call, however many payments begin at once: more than the egress takes at a time are refused. */
  async session(): Promise<AliasSession> {
    this.#session ??= await (this.#creating ??= this.#authorized());
    return this.#session;
  }

  async #authorized(): Promise<AliasSession> {
    return JSON.parse((await this.create()).text) as AliasSession;
  }

  async presented(): Promise<readonly string[]> {
    const { deviceId, refreshToken } = await this.session();
    return ['x-api_version', 'V1', 'x-device_id', deviceId, 'x-refresh_token', refreshToken];
  }

  async pay(route: Route, members: Members | string, request: CallerRequest = {}): Promise<Answer> {
    const { path = PATHS[route], headers = [], ...rest } = request;
    const type = ['content-type', route === 'sealed' ? 'text/plain' : 'application/json'];
    const plaintext = typeof members === 'string' ? members : JSON.stringify(members);
    const body = route === 'sealed' ? await this.seal(plaintext) : plaintext;
    const own = [...(await this.presented()), ...type];
    return this.#read(await exchange(this.url, { path, headers: [...own, ...headers], body, ...rest }), route);
  }

  async seal(plaintext: string): Promise<string> {
    return sealCompact(plaintext, readPublicKey((await this.session()).serverPublic));
  }

  #read(raw: RawAnswer, route: Route): Answer {
    const text = raw.body.toString('utf8');
    const { jwe } = route === 'sealed' ? membersOf(text) : {};
    const opened = typeof jwe === 'string' ? openCompact(jwe, this.own.key).toString('utf8') : text;
    return { ...raw, text: opened, code: codeOf(opened) };
  }
}

function membersOf(text: string): Members {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Members) : {};
  } catch {
    return {};
  }
}

function codeOf(text: string): string | undefined {
  const { code, msgCode } = membersOf(text);
  const given = msgCode ?? code;
  return typeof given === 'string' ? given : undefined;
}
