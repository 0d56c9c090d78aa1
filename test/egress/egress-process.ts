import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateClientKey } from '#libs/jwe';
import { ProgramProcess } from '../e2e/program-process.js';
import { AliasCaller, type Caller, PlainCaller } from './callers.js';
import { aClient, type ClientWish } from './running-egress.js';

export interface ProcessSetUp {
  readonly broker: { readonly url: string; readonly token: string };
  readonly gatewayUrl: string;
  readonly environment?: Readonly<Record<string, string>>;
}

/** The built egress as a separate process, at its most talkative. */
export class EgressProcess {
  url = '';
  managementUrl = '';
  readonly client: ClientWish = aClient();
  readonly #folder: string;
  readonly #process: ProgramProcess;
  readonly #keyScalar: string;

  private constructor({ folder, process, scalar }: { folder: string; process: ProgramProcess; scalar: string }) {
    this.#folder = folder;
    this.#process = process;
    this.#keyScalar = scalar;
  }

  static async start({ environment = {}, ...setUp }: ProcessSetUp): Promise<EgressProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'session-egress-process-'));
    const { privateJwk } = await generateClientKey();
    const file = join(folder, 'egress.yaml');
    const client = aClient();
    const secret = { mode: 0o600 };
    await writeFile(join(folder, 'alias.jwk.json'), JSON.stringify(privateJwk), secret);
    await writeFile(join(folder, 'token'), setUp.broker.token, secret);
    await writeFile(join(folder, 'shop.pub.jwk.json'), JSON.stringify(client.key.jwk));
    await writeFile(file, configuration(setUp, client), secret);
    const process = new ProgramProcess('egress', { environment: { EGRESS_CONFIG: file, ...environment } });
    const egress = new EgressProcess({ folder, process, scalar: privateJwk['d'] ?? '' });
    Object.assign(egress, { client });
    await egress.#started();
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

  callers(): readonly Caller[] {
    const { token, serviceCode, key } = this.client;
    return [new PlainCaller(this.url, token), new AliasCaller(this.url, { serviceCode, key })];
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.managementUrl}/metrics`)).text();
  }

  /** @returns the exit code */
  async stop(): Promise<number | null> {
    this.#process.signal('SIGTERM');
    const code = await this.#process.ended;
    await rm(this.#folder, { recursive: true });
    return code;
  }

  async #started(): Promise<void> {
    const [line] = await this.#process.said(/^.*"msg":"egress started".*$/m);
    const { url, managementUrl } = JSON.parse(line) as { url: string; managementUrl: string };
    this.url = url;
    this.managementUrl = managementUrl;
  }
}

function configuration({ broker, gatewayUrl }: Omit<ProcessSetUp, 'environment'>, client: ClientWish): string {
  const sha256 = createHash('sha256').update(client.token).digest('hex');
  return `
egress:
  listen: { port: 0 }
  management: { port: 0 }
  broker: { url: '${broker.url}', tokenFile: token }
  gateway: { baseUrl: '${gatewayUrl}', environment: test, timeout: 500ms }
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
