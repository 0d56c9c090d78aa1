import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programRuntime } from '#libs/program';
import { freePort } from '#libs/testing';
import { BenchProcess, type BenchProcessOptions, untilOk } from './bench-process.js';

const PROGRAM = join(import.meta.dirname, '..', '..', 'programs', 'egress.js');
const TOKEN = 'token-of-a-shop';

export interface BenchEgressOptions extends Pick<BenchProcessOptions, 'cpu' | 'memoryMib'> {
  readonly brokerUrl: string;
  readonly brokerToken: string;
  readonly gatewayUrl: string;
}

/** The built egress as a separate process, started as in the image, with one client of one merchant. */
export class BenchEgress {
  static readonly headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

  private constructor(
    readonly process: BenchProcess,
    readonly folder: string,
    readonly ports: { readonly port: number; readonly managementPort: number },
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.ports.port}`;
  }

  get managementUrl(): string {
    return `http://127.0.0.1:${this.ports.managementPort}`;
  }

  /** Resolves once it has a session. */
  static async start({ brokerUrl, brokerToken, gatewayUrl, ...limits }: BenchEgressOptions): Promise<BenchEgress> {
    const folder = await mkdtemp(join(tmpdir(), 'session-egress-bench-'));
    const [port, managementPort] = [await freePort(), await freePort()];
    const yaml = join(folder, 'egress.yaml');
    await writeFile(join(folder, 'token'), brokerToken, { mode: 0o600 });
    await writeFile(
      yaml,
      `
egress:
  listen: { host: 127.0.0.1, port: ${port} }
  management: { host: 127.0.0.1, port: ${managementPort} }
  broker: { url: '${brokerUrl}', tokenFile: token }
  gateway: { baseUrl: '${gatewayUrl}', environment: test }
  clients: [{ name: shop, merchant: shop, token: { sha256: "${createHash('sha256').update(TOKEN).digest('hex')}" } }]
  log: { level: error }
`,
    );
    const program = new BenchProcess([process.execPath, ...programRuntime.nodeArguments, PROGRAM], {
      env: { EGRESS_CONFIG: yaml, ...programRuntime.environment },
      ...limits,
    });
    const started = new BenchEgress(program, folder, { port, managementPort });
    await untilOk(`${started.managementUrl}/readyz`);
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true });
  }
}
