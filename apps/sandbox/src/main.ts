import { readFile } from 'node:fs/promises';
import { parseDurationMs, SystemClock, VirtualClock, type Clock } from '#libs/clock';
import { BrokerError, describeError } from '#libs/errors';
import { createLogger } from '#libs/telemetry';
import { startSandbox, type SandboxOptions, writtenAddress } from './sandbox.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The sandbox cannot start: the message says all there is to say. */
class StartRefused extends Error {
  override readonly name = 'StartRefused';
}

async function optionsFrom(environment: Environment): Promise<SandboxOptions> {
  const clock = clockFrom(environment['SANDBOX_CLOCK'] ?? 'real');
  const controlToken = environment['SANDBOX_CONTROL_TOKEN'];
  const merchantsFile = environment['SANDBOX_MERCHANTS'];
  return {
    host: environment['SANDBOX_HOST'] ?? '127.0.0.1',
    port: portFrom(environment['SANDBOX_PORT'] ?? '8081'),
    clock,
    logger: createLogger({ name: 'sandbox', clock }),
    notificationOrigins: originsFrom(environment['SANDBOX_NOTIFICATION_ORIGINS'] ?? ''),
    settings: { lifetimeMs: lifetimeFrom(environment['SANDBOX_LIFETIME'] ?? '15m') },
    ...(controlToken === undefined || controlToken === '' ? {} : { controlToken }),
    ...(merchantsFile === undefined ? {} : { merchants: await merchantsFrom(merchantsFile) }),
  };
}

/** Virtual time begins now, and passes only when a control request says so. */
function clockFrom(text: string): Clock {
  if (text === 'real') return new SystemClock();
  if (text === 'virtual') return new VirtualClock(new SystemClock().now());
  throw new StartRefused('SANDBOX_CLOCK must be real or virtual');
}

function originsFrom(text: string): readonly string[] {
  const origins = text.split(',').map((origin) => origin.trim());
  return origins
    .filter((origin) => origin !== '')
    .map((origin) => {
      const url = URL.parse(origin);
      const isOrigin = url?.origin === origin && /^https?:$/.test(url.protocol);
      if (!isOrigin)
        throw new StartRefused(
          'SANDBOX_NOTIFICATION_ORIGINS must be a list such as https://a.example,https://b.example:8443',
        );
      return origin;
    });
}

function portFrom(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : NaN;
  if (!(port <= 65_535)) throw new StartRefused('SANDBOX_PORT must be a number from 0 to 65535');
  return port;
}

function lifetimeFrom(text: string): number {
  const lifetimeMs = parseDurationMs(text);
  if (lifetimeMs === undefined || lifetimeMs < 1)
    throw new StartRefused('SANDBOX_LIFETIME must be a duration such as 90s or 15m');
  return Math.round(lifetimeMs);
}

async function merchantsFrom(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'it is not JSON' : (error as NodeJS.ErrnoException).code;
    throw new StartRefused(`SANDBOX_MERCHANTS: ${path} cannot be read: ${reason}`);
  }
}

function explain(error: unknown): string {
  if (error instanceof StartRefused) return error.message;
  if (error instanceof BrokerError) return `SANDBOX_MERCHANTS: ${error.publicDetail ?? error.message}`;
  const { code, address, port } = error as NodeJS.ErrnoException & {
    readonly address?: string;
    readonly port?: number;
  };
  if (code === 'EADDRINUSE' && address !== undefined && port !== undefined)
    return `${writtenAddress({ address, port })} is already in use; set SANDBOX_PORT to a free port`;
  return describeError(error);
}

try {
  const sandbox = await startSandbox(await optionsFrom(process.env));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => void sandbox.close());
} catch (error) {
  process.stderr.write(`The sandbox cannot start: ${explain(error)}\n`);
  process.exitCode = 1;
}
