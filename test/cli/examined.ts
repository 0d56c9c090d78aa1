import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, SystemClock } from '#libs/clock';
import { type GeneratedClientKey, generateClientKey } from '#libs/jwe';
import { runCli } from '../../apps/cli/src/program.js';

export interface ExaminedFinding {
  readonly level: string;
  readonly message: string;
  readonly remedy?: string;
  readonly faultClass?: string;
}

export interface ExaminedCheck {
  readonly name: string;
  readonly status: string;
  readonly subject?: string;
  readonly reason?: string;
  readonly findings: readonly ExaminedFinding[];
  readonly facts?: Readonly<Record<string, unknown>>;
}

export interface Examination {
  readonly code: number;
  /** Everything that was printed. */
  readonly text: string;
  readonly checks: readonly ExaminedCheck[];
  readonly check: (name: string) => ExaminedCheck;
}

export const SERVICE_CODE = 'c0ffee00-0368-41ed-b939-0242ac120002';

export interface MerchantSection {
  readonly id?: string;
  readonly gatewayUrl: string;
  readonly environment?: 'test' | 'production';
  /** More lines of the gateway section, in flow style. */
  readonly gateway?: string;
  readonly serviceCode?: string;
  readonly keyFile?: string;
  /** The session section, in flow style. */
  readonly session?: string;
}

/** A folder with a configuration and its key, with the command line on top of it, in this process. */
export class Examined {
  readonly folder: string;
  readonly key: GeneratedClientKey;
  clock: Clock = new SystemClock();
  environment: Readonly<Record<string, string>> = {};

  static async create(): Promise<Examined> {
    const examined = new Examined(await mkdtemp(join(tmpdir(), 'doctor-')), await generateClientKey());
    await examined.write('client.json', JSON.stringify(examined.key.privateJwk));
    return examined;
  }

  private constructor(folder: string, key: GeneratedClientKey) {
    this.folder = folder;
    this.key = key;
  }

  get config(): string {
    return this.path('broker.yaml');
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async write(name: string, content: string, mode = 0o600): Promise<void> {
    await writeFile(this.path(name), content);
    await chmod(this.path(name), mode);
  }

  configure(merchants: readonly MerchantSection[], store = '{ type: memory }', more = ''): Promise<void> {
    return this.write(
      'broker.yaml',
      `http: { host: 127.0.0.1, port: 8080, maxWatchers: 10 }
management: { host: 127.0.0.1, port: 9464 }
store: ${store}
auth: { disabled: true }
${more}
merchants:
${merchants.map(sectionOf).join('')}`,
      0o644,
    );
  }

  /** Changes the last written configuration. */
  async change(from: string, to: string): Promise<void> {
    const text = await readFile(this.config, 'utf8');
    if (!text.includes(from)) throw new Error(`the configuration has no ${from}`);
    await this.write(
      'broker.yaml',
      text.replace(from, () => to),
      0o644,
    );
  }

  /** What a person at a terminal saw for a moment. */
  readonly progress: string[] = [];

  /** What the last verb printed. */
  out: string[] = [];
  err: string[] = [];

  /** Runs a verb and returns its exit code and everything that it printed. */
  async cli(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
    const lines: string[] = [];
    const into =
      (kept: string[]) =>
      (text: string): void => {
        kept.push(text);
        lines.push(text);
      };
    [this.out, this.err] = [[], []];
    const progress = (text: string): void => void this.progress.push(text);
    const terminal = { out: into(this.out), err: into(this.err), progress };
    const { clock, environment } = this;
    const code = await runCli(args, { terminal, environment, signal: new AbortController().signal, clock });
    return { code, text: lines.join('\n') };
  }

  /** Runs the doctor with output for programs. */
  doctor(...args: readonly string[]): Promise<Examination> {
    return this.examine('--config', this.config, ...args);
  }

  /** The same for what the arguments name. */
  async examine(...args: readonly string[]): Promise<Examination> {
    const { code, text } = await this.cli('doctor', '--json', ...args);
    const { checks = [] } = JSON.parse(text) as { checks?: readonly ExaminedCheck[] };
    const check = (name: string): ExaminedCheck => {
      const found = checks.find((candidate) => candidate.name === name);
      if (found === undefined) throw new Error(`no check ${name} in ${text}`);
      return found;
    };
    return { code, text, checks, check };
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }
}

function sectionOf({ id = 'shop', gatewayUrl, environment = 'test', gateway = '', ...rest }: MerchantSection): string {
  const { serviceCode = SERVICE_CODE, keyFile = 'client.json', session } = rest;
  return `  - id: ${id}
    serviceCode: ${serviceCode}
    clientKeyFiles: [${keyFile}]
    gateway: { baseUrl: "${gatewayUrl}", environment: ${environment}, timeout: 2s${gateway === '' ? '' : `, ${gateway}`} }
${session === undefined ? '' : `    session: ${session}\n`}`;
}

/** The messages of a check's findings at one level. */
export const messagesOf = ({ findings }: ExaminedCheck, level: string): readonly string[] =>
  findings.filter((finding) => finding.level === level).map(({ message }) => message);
