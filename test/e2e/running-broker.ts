import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, SystemClock } from '#libs/clock';
import { ConfigurationSource } from '#libs/configuration';
import { generateClientKey } from '#libs/jwe';
import { createLogger } from '#libs/telemetry';
import { LASTING_SESSION_MS, PATIENT_GATEWAY, startedWhole } from '#libs/testing';
import { startBroker } from '../../apps/broker/src/broker.js';
import { startSandbox } from '../../apps/sandbox/src/sandbox.js';
import { sandboxControl } from '../sandbox/sandbox-control.js';
import { type Answer, call } from './call.js';

export const TOKENS = {
  checkout: 'token-of-checkout',
  reporting: 'token-of-reporting',
  admin: 'token-of-admin',
  payments: 'token-of-payments',
  oncall: 'token-of-oncall',
};
export const SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';
/** That of a merchant which is configured, but only in the admin's policy. */
const OTHER_SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120003';

export interface BrokerSetUp {
  /** Of the broker and the sandbox. */
  readonly clock?: Clock;
  /** Members of the sandbox's merchant. */
  readonly merchant?: object;
  /** Faults that the sandbox has before the broker starts. */
  readonly faults?: readonly object[];
  /** Settings of the sandbox. */
  readonly sandbox?: object;
  /** Of the merchant `shop` in the broker's configuration, as are the next two. */
  readonly timeout?: string;
  /** Further members of its section `gateway`, in flow style. */
  readonly gateway?: string;
  /** Its section `session`, in flow style. */
  readonly session?: string;
  /** The section `store`, in flow style. */
  readonly store?: string;
  /** Further members of the section `http`, in flow style. */
  readonly http?: string;
  /** Further members of the section `auth`, one per line, and policies for the callers that they add. */
  readonly auth?: readonly string[];
  readonly callers?: readonly string[];
  /** Lets everyone in. */
  readonly authDisabled?: boolean;
  /** Files next to the configuration. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A sandbox and a broker in this process, each on a free port, with real HTTP between them and in front of them. */
export class RunningBroker {
  readonly lines: string[] = [];
  readonly folder: string;
  url = '';
  managementUrl = '';
  sandboxUrl = '';
  thumbprint = '';
  /** The public half of the key that the merchant `shop` had before its current one. */
  olderPublicJwk: Record<string, string> = {};
  /** Reads the files in `folder` again. */
  reload: () => Promise<void> = () => Promise.resolve();
  #close: (() => Promise<void>)[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async start(setUp: BrokerSetUp = {}): Promise<RunningBroker> {
    const running = new RunningBroker(await mkdtemp(join(tmpdir(), 'session-broker-')));
    return startedWhole(running, { start: () => running.#start(setUp), end: () => running.close() });
  }

  async close(): Promise<void> {
    for (const close of this.#close.splice(0).reverse()) await close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** As the caller of a token, or as nobody: ''. */
  get(path: string, headers: Record<string, string> = {}, token: string = TOKENS.checkout): Promise<Answer> {
    return call(this.url + path, { headers: { ...bearer(token), ...headers } });
  }

  /** As the caller `payments`, if no other is named: it may do everything with the merchant `shop` but renew. */
  post(path: string, body?: object | string, token: string = TOKENS.payments): Promise<Answer> {
    return call(this.url + path, { method: 'POST', body, headers: bearer(token) });
  }

  control(method: string, path: string, body?: object): Promise<unknown> {
    return sandboxControl(this.sandboxUrl, { method, path, body });
  }

  /** Create calls that the gateway has received. */
  async createCalls(): Promise<number> {
    const { matching } = (await this.control('GET', '/calls?operation=authorize')) as { matching: number };
    return matching;
  }

  /** Rewrites the configuration with the given changes; they take effect after `reload`. */
  async edit(...changes: readonly (readonly [from: string, to: string])[]): Promise<void> {
    const file = join(this.folder, 'broker.yaml');
    let text = await readFile(file, 'utf8');
    for (const [from, to] of changes) {
      if (!text.includes(from)) throw new Error(`the configuration has no ${from}`);
      text = text.replace(from, to);
    }
    await writeFile(file, text);
  }

  async #start(setUp: BrokerSetUp): Promise<void> {
    const { clock = new SystemClock() } = setUp;
    const key = await generateClientKey();
    const other = await generateClientKey();
    const older = await generateClientKey();
    this.thumbprint = key.thumbprint;
    this.olderPublicJwk = older.publicJwk;
    const quiet = createLogger({ name: 'sandbox', level: 'error' });
    const merchants = [
      {
        id: 'shop',
        serviceCode: SERVICE_CODE,
        publicJwk: key.publicJwk,
        lifetimeMs: LASTING_SESSION_MS,
        ...setUp.merchant,
      },
      { id: 'hidden', serviceCode: OTHER_SERVICE_CODE, publicJwk: other.publicJwk, lifetimeMs: LASTING_SESSION_MS },
    ];
    const { sandbox: settings = {} } = setUp;
    const sandbox = await startSandbox({ host: '127.0.0.1', port: 0, clock, logger: quiet, merchants, settings });
    this.sandboxUrl = sandbox.url;
    this.#close.push(() => sandbox.close());
    for (const fault of setUp.faults ?? []) await this.control('POST', '/faults', fault);
    await writeFile(join(this.folder, 'shop.jwk.json'), JSON.stringify(key.privateJwk), { mode: 0o600 });
    await writeFile(join(this.folder, 'shop-older.jwk.json'), JSON.stringify(older.privateJwk), { mode: 0o600 });
    await writeFile(join(this.folder, 'hidden.jwk.json'), JSON.stringify(other.privateJwk), { mode: 0o600 });
    for (const [name, content] of Object.entries(setUp.files ?? {}))
      await writeFile(join(this.folder, name), content, { mode: 0o600 });
    await writeFile(join(this.folder, 'broker.yaml'), configurationText(sandbox.url, setUp));
    const source = new ConfigurationSource(join(this.folder, 'broker.yaml'), { environment: {}, clock });
    const configuration = await source.load();
    const logger = createLogger({
      name: 'broker',
      level: 'debug',
      destination: { write: (line) => void this.lines.push(line) },
    });
    const setLogLevel = logger.setLevel.bind(logger);
    const broker = await startBroker({ configuration, source, setLogLevel, clock, logger });
    this.reload = () => broker.reload();
    this.url = broker.url;
    this.managementUrl = broker.managementUrl;
    this.#close.push(() => broker.close(1_000));
  }
}

const bearer = (token: string): Record<string, string> => (token === '' ? {} : { authorization: `Bearer ${token}` });

function configurationText(sandboxUrl: string, setUp: BrokerSetUp): string {
  const sha256 = (token: string): string => createHash('sha256').update(token).digest('hex');
  const text = `
http: { host: 127.0.0.1, port: 0, docs: true${setUp.http === undefined ? '' : `, ${setUp.http}`} }
management: { host: 127.0.0.1, port: 0 }
store: ${setUp.store ?? '{ type: memory }'}
auth:
  tokens:
    - { caller: checkout, sha256: "${sha256(TOKENS.checkout)}" }
    - { caller: reporting, sha256: "${sha256(TOKENS.reporting)}" }
    - { caller: admin, sha256: "${sha256(TOKENS.admin)}" }
    - { caller: payments, sha256: "${sha256(TOKENS.payments)}" }
    - { caller: oncall, sha256: "${sha256(TOKENS.oncall)}" }
  policies:
    - { caller: checkout, merchants: [shop], allow: [session:read] }
    - { caller: reporting, merchants: [shop], allow: [payload:encrypt] }
    - { caller: admin, merchants: ['*'], allow: [session:read] }
    - { caller: payments, merchants: [shop], allow: [session:read, session:reject, payload:encrypt, payload:decrypt] }
    - { caller: oncall, merchants: [shop], allow: [session:renew] }
${(setUp.callers ?? []).map((caller) => `    - { caller: '${caller}', merchants: [shop], allow: [session:read] }\n`).join('')}${(setUp.auth ?? []).map((line) => `  ${line}\n`).join('')}audit: { destination: none }
log: { level: debug }
merchants:
  - id: shop
    serviceCode: ${SERVICE_CODE}
    clientKeyFiles: [shop.jwk.json, shop-older.jwk.json]
    gateway: { ${setUp.gateway ?? ''} baseUrl: '${sandboxUrl}', environment: test, timeout: ${setUp.timeout ?? PATIENT_GATEWAY} }
    session: ${setUp.session ?? '{}'}
  - id: hidden
    required: false
    serviceCode: ${OTHER_SERVICE_CODE}
    clientKeyFiles: [hidden.jwk.json]
    gateway: { baseUrl: '${sandboxUrl}', environment: test, timeout: ${setUp.timeout ?? PATIENT_GATEWAY} }
`;
  return setUp.authDisabled === true ? text.replace(/^auth:\n(?: .*\n)+/m, 'auth: { disabled: true }\n') : text;
}
