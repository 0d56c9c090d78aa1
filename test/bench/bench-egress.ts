import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programRuntime } from '#libs/program';
import { freePort } from '#libs/testing';
import { BenchProcess, untilOk } from './bench-process.js';

const PROGRAM = join(import.meta.dirname, '..', '..', 'programs', 'egress.js');
const TOKEN = 'token-of-a-shop';

export interface BenchEgressOptions {
  readonly brokerUrl: string;
  readonly brokerToken: string;
  readonly gatewayUrl: string;
  /** The limit of its memory; none if left out. */
  readonly memoryMib?: number;
  /** A processor by number; any if left out. */
  readonly cpu?: number;
}

/** The built egress as a separate process, started as in the image, with one client of one merchant. */
export class BenchEgress {
  readonly process: BenchProcess;
  readonly url: string;
  readonly managementUrl: string;
  readonly #folder: string;

  private constructor(parts: Pick<BenchEgress, 'process' | 'url' | 'managementUrl'> & { readonly folder: string }) {
    this.process = parts.process;
    this.url = parts.url;
    this.managementUrl = parts.managementUrl;
    this.#folder = parts.folder;
  }

  static get headers(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${TOKEN}` };
  }

  /** Resolves once it has a session. */
  static async start(options: BenchEgressOptions): Promise<BenchEgress> {
    const folder = await mkdtemp(join(tmpdir(), 'session-egress-bench-'));
    const [port, managementPort] = [await freePort(), await freePort()];
    const yaml = join(folder, 'egress.yaml');
    await writeFile(join(folder, 'token'), options.brokerToken, { mode: 0o600 });
    await writeFile(yaml, configuration({ port, managementPort }, options));
    const process_ = new BenchProcess([process.execPath, ...programRuntime.nodeArguments, PROGRAM], {
      env: { EGRESS_CONFIG: yaml, ...programRuntime.environment },
      cpu: options.cpu,
      memoryMib: options.memoryMib,
    });
    const managementUrl = `http://127.0.0.1:${managementPort}`;
    const started = new BenchEgress({ process: process_, url: `http://127.0.0.1:${port}`, managementUrl, folder });
    await untilOk(`${managementUrl}/readyz`);
    return started;
  }

  async stop(): Promise<void> {
    await this.process.stop();
    await rm(this.#folder, { recursive: true });
  }
}

interface Ports {
  readonly port: number;
  readonly managementPort: number;
}

function configuration({ port, managementPort }: Ports, { brokerUrl, gatewayUrl }: BenchEgressOptions): string {
  const sha256 = createHash('sha256').update(TOKEN).digest('hex');
  return `
egress:
  listen: { host: 127.0.0.1, port: ${port} }
  management: { host: 127.0.0.1, port: ${managementPort} }
  broker: { url: '${brokerUrl}', tokenFile: token }
  gateway: { baseUrl: '${gatewayUrl}', environment: test }
  clients: [{ name: shop, merchant: shop, token: { sha256: "${sha256}" } }]
  log: { level: error }
`;
}
