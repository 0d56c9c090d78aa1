import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateClientKey } from '#libs/jwe';
import { eventually } from '#libs/testing';
import { ProgramProcess } from '../e2e/program-process.js';
import { AliasCaller, type Caller, PlainCaller } from './callers.js';
import { aClient, type ClientWish } from './running-egress.js';

export interface ProcessSetUp {
  readonly broker: { readonly url: string; readonly token: string };
  readonly gatewayUrl: string;
  /** Half a second by default. */
  readonly timeout?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Of which version it is: the folder with its built programs, this checkout's by default. */
  readonly built?: URL;
}

/** The built egress as a separate process, at its most talkative. */
export class EgressProcess {
  url = '';
  managementUrl = '';
  readonly client: ClientWish;
  readonly #folder: string;
  readonly #process: ProgramProcess;
  readonly #keyScalar: string;
  /** Its files are those of a successor by now. */
  #isSucceeded = false;

  private constructor(files: EgressFiles, { environment, built }: Pick<ProcessSetUp, 'environment' | 'built'>) {
    this.#folder = files.folder;
    this.client = files.client;
    this.#keyScalar = files.scalar;
    const own = { EGRESS_CONFIG: join(files.folder, 'egress.yaml') };
    this.#process = new ProgramProcess('egress', { environment: { ...own, ...environment }, ...(built && { built }) });
  }

  static async start(setUp: ProcessSetUp): Promise<EgressProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'session-egress-process-'));
    const { privateJwk } = await generateClientKey();
    const client = aClient();
    const secret = { mode: 0o600 };
    await writeFile(join(folder, 'alias.jwk.json'), JSON.stringify(privateJwk), secret);
    await writeFile(join(folder, 'token'), setUp.broker.token, secret);
    await writeFile(join(folder, 'shop.pub.jwk.json'), JSON.stringify(client.key.jwk));
    await writeFile(join(folder, 'egress.yaml'), configuration(setUp, client), secret);
    const files = { folder, client, scalar: privateJwk['d'] ?? '' };
    const egress = new EgressProcess(files, setUp);
    await egress.#started();
    return egress;
  }

  /** One more with the same files, of another version, ready to serve. This one still has to be stopped. */
  async successor(built: URL): Promise<EgressProcess> {
    const files = { folder: this.#folder, client: this.client, scalar: this.#keyScalar };
    const egress = new EgressProcess(files, { built });
    this.#isSucceeded = true;
    await egress.#started();
    await eventually(async () => (await fetch(`${egress.managementUrl}/readyz`)).ok);
    return egress;
  }

  /** Everything that it has printed. */
  get printed(): string {
    return this.#process.out + this.#process.err;
  }

  /** The secrets that it was given. */
  get secrets(): readonly string[] {
    return [this.#keyScalar, this.client.token, this.client.serviceCode];
  }

  /** @param url another way to it */
  callers(url = this.url): readonly Caller[] {
    const { token, serviceCode, key } = this.client;
    return [new PlainCaller(url, token), new AliasCaller(url, { serviceCode, key })];
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.managementUrl}/metrics`)).text();
  }

  /** @returns the exit code */
  async stop(): Promise<number | null> {
    this.#process.signal('SIGTERM');
    const code = await this.#process.ended;
    if (!this.#isSucceeded) await rm(this.#folder, { recursive: true });
    return code;
  }

  async #started(): Promise<void> {
    const [line] = await this.#process.said(/^.*"msg":"egress started".*$/m);
    const { url, managementUrl } = JSON.parse(line) as { url: string; managementUrl: string };
    this.url = url;
    this.managementUrl = managementUrl;
  }
}

interface EgressFiles {
  readonly folder: string;
  readonly client: ClientWish;
  readonly scalar: string;
}

function configuration({ broker, gatewayUrl, timeout = '500ms' }: ProcessSetUp, client: ClientWish): string {
  const sha256 = createHash('sha256').update(client.token).digest('hex');
  return `
egress:
  listen: { port: 0 }
  management: { port: 0 }
  broker: { url: '${broker.url}', tokenFile: token }
  gateway: { baseUrl: '${gatewayUrl}', environment: test, timeout: ${timeout} }
  aliasKeyFiles: [alias.jwk.json]
  clients:
    - name: shop
      merchant: shop
      token: { sha256: "${sha256}" }
      publicKeyFile: shop.pub.jwk.json
      serviceCodeAlias: ${client.serviceCode}
  audit: { destination: stdout }
  log: { level: debug }
`;
}
