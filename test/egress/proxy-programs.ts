import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually, freePort, toolPath } from '#libs/testing';

export const PROXIES = ['nginx', 'caddy', 'haproxy'] as const;
export type ProxyName = (typeof PROXIES)[number];

/** What takes the place of the names in the examples. */
export interface Surroundings {
  readonly brokerUrl: string;
  readonly brokerToken: string;
  readonly gatewayPort: number;
  /** PEM. */
  readonly gatewayAuthority: string;
}

interface Example {
  /** The files of the example; the first is the program's own configuration. */
  readonly files: readonly string[];
  readonly args: (folder: string) => readonly string[];
}

const EXAMPLES: Readonly<Record<ProxyName, Example>> = {
  nginx: {
    files: ['nginx.conf'],
    args: (folder) => ['-e', 'stderr', '-c', join(folder, 'main.conf')],
  },
  caddy: {
    files: ['Caddyfile'],
    args: (folder) => ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')],
  },
  haproxy: {
    files: ['haproxy.cfg', 'session-headers.lua'],
    args: (folder) => ['-db', '-f', join(folder, 'haproxy.cfg')],
  },
};

/** One of the real proxies, set up as in the documentation's example. */
export class ProxyProgram {
  readonly url: string;
  #said = '';
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;

  private constructor(folder: string, port: number, child: ChildProcess) {
    this.#folder = folder;
    this.url = `http://127.0.0.1:${port}`;
    this.#child = child;
    this.#ended = once(child, 'close');
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#said += text));
    }
  }

  static async start(name: ProxyName, around: Surroundings): Promise<ProxyProgram> {
    const { files, args } = EXAMPLES[name];
    const folder = await mkdtemp(join(tmpdir(), `forward-auth-${name}-`));
    const port = await freePort();
    const names = namesIn(folder, { ...around, port });
    await writeFile(join(folder, 'authority.pem'), around.gatewayAuthority);
    for (const file of files) await writeFile(join(folder, file), fitted(await example(file), names));
    if (name === 'nginx') await writeNginxFiles(folder, around.brokerToken);
    const env = { ...process.env, BROKER_TOKEN: around.brokerToken, HOME: folder, XDG_DATA_HOME: folder };
    const child = spawn(toolPath(name), args(folder), { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const proxy = new ProxyProgram(folder, port, child);
    await proxy.#ready();
    return proxy;
  }

  /** Everything that it has printed. */
  get said(): string {
    return this.#said;
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#ended;
    await rm(this.#folder, { recursive: true });
  }

  async #ready(): Promise<void> {
    await eventually(async () => {
      if (this.#child.exitCode !== null) throw new Error(`it ended: ${this.#said}`);
      return fetch(`${this.url}/not-a-payment`).then(
        ({ status }) => status === 404,
        () => false,
      );
    });
  }
}

function example(file: string): Promise<string> {
  return readFile(fileURLToPath(new URL(`../../docs/examples/forward-auth/${file}`, import.meta.url)), 'utf8');
}

/** The names in the examples, and what they stand for here. */
function namesIn(folder: string, around: Surroundings & { readonly port: number }): readonly [string, string][] {
  return [
    ['127.0.0.1:8089', `127.0.0.1:${around.port}`],
    ['session-broker:8080', new URL(around.brokerUrl).host],
    ['gateway.bank.example:443', `localhost:${around.gatewayPort}`],
    ['gateway.bank.example', 'localhost'],
    ['/etc/ssl/certs/ca-certificates.crt', join(folder, 'authority.pem')],
    ['/etc/nginx/session-broker-token.conf', join(folder, 'token.conf')],
    ['/etc/haproxy/session-headers.lua', join(folder, 'session-headers.lua')],
  ];
}

function fitted(text: string, names: readonly [string, string][]): string {
  return names.reduce((fitting, [named, here]) => fitting.replaceAll(named, here), text);
}

/** The nginx example is one of the files that its main configuration includes. */
async function writeNginxFiles(folder: string, token: string): Promise<void> {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const places = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join(' ');
  // The strictest setting for the example: otherwise nginx itself drops forged headers with an underscore.
  const http = `access_log off; underscores_in_headers on; ${places} include ${join(folder, 'nginx.conf')};`;
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const main = `daemon off; error_log stderr; pid ${join(folder, 'pid')}; ${user} events {} http { ${http} }`;
  await writeFile(join(folder, 'main.conf'), main);
  await writeFile(join(folder, 'token.conf'), `proxy_set_header Authorization "Bearer ${token}";`, { mode: 0o600 });
}
