import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Requirement, toolPath } from '#libs/testing';

const run = promisify(execFile);
const WRITE_KEY = fileURLToPath(new URL('./write-key.mjs', import.meta.url));
export const PIN = '73 arsenal';
const LABEL = 'broker';

/** The optional package, built for this machine. */
export const pkcs11js: Requirement = {
  name: 'pkcs11js',
  missing: () => {
    try {
      createRequire(import.meta.url).resolve('pkcs11js/build/Release/pkcs11.node');
      return undefined;
    } catch {
      return 'pkcs11js is not there or was not compiled: npm run build:pkcs11';
    }
  },
};

export interface TokenKey {
  readonly label: string;
  readonly privateJwk: Readonly<Record<string, string>>;
  readonly derive?: boolean;
  readonly extractable?: boolean;
}

export function privateJwkOn(namedCurve: 'P-384' | 'P-256'): Record<string, string> {
  return generateKeyPairSync('ec', { namedCurve }).privateKey.export({ format: 'jwk' }) as Record<string, string>;
}

/** A SoftHSM token in its own folder, which can go away and come back. */
export class SoftToken {
  readonly folder: string;
  /** For programs that load the module. */
  readonly environment: Readonly<Record<string, string>>;
  readonly module: string;

  static async create(): Promise<SoftToken> {
    const token = new SoftToken(await mkdtemp(join(tmpdir(), 'soft-token-')));
    await mkdir(token.#tokens);
    await writeFile(token.pinFile, `${PIN}\n`, { mode: 0o600 });
    await writeFile(token.environment['SOFTHSM2_CONF'] ?? '', `directories.tokendir = ${token.#tokens}\n`);
    await token.initialize(LABEL);
    return token;
  }

  private constructor(folder: string) {
    this.folder = folder;
    this.environment = { SOFTHSM2_CONF: join(folder, 'softhsm2.conf') };
    const lib = join(dirname(dirname(toolPath('softhsm', 'softhsm2-util'))), 'lib');
    this.module = existsSync(join(lib, 'softhsm'))
      ? join(lib, 'softhsm', 'libsofthsm2.so')
      : join(lib, 'libsofthsm2.so');
  }

  get pinFile(): string {
    return join(this.folder, 'pin');
  }

  async initialize(label: string): Promise<void> {
    const pins = ['--pin', PIN, '--so-pin', 'of the officer'];
    const environment = { ...process.env, ...this.environment };
    await run(toolPath('softhsm', 'softhsm2-util'), ['--init-token', '--free', '--label', label, ...pins], {
      env: environment,
    });
  }

  /** Puts in a key that was made elsewhere. */
  async keep({ label, privateJwk, ...attributes }: TokenKey): Promise<void> {
    await this.#write({ label, jwk: privateJwk, ...attributes });
  }

  /** Makes a key in the token. @returns its public half */
  async make(label: string): Promise<Readonly<Record<string, string>>> {
    return JSON.parse(await this.#write({ label })) as Record<string, string>;
  }

  async #write(wish: object): Promise<string> {
    const all = { module: this.module, token: LABEL, pin: PIN, ...wish };
    const env = { ...process.env, ...this.environment };
    return (await run(process.execPath, [WRITE_KEY, JSON.stringify(all)], { env })).stdout;
  }

  uri(label: string, { token = LABEL, module = this.module, pinFile = this.pinFile } = {}): string {
    const encoded = encodeURIComponent(token);
    return `pkcs11:token=${encoded};object=${encodeURIComponent(label)}?module-path=${module}&pin-source=file:${pinFile}`;
  }

  /** The content of a key file. */
  keyFile(label: string, { kty = '', crv = '', x = '', y = '' }: Readonly<Record<string, string>>): string {
    return JSON.stringify({ kty, crv, x, y, pkcs11: this.uri(label) });
  }

  /** As if someone pulled it out. */
  goAway(): Promise<void> {
    return rename(this.#tokens, `${this.#tokens}-away`);
  }

  comeBack(): Promise<void> {
    return rename(`${this.#tokens}-away`, this.#tokens);
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }

  get #tokens(): string {
    return join(this.folder, 'tokens');
  }
}
