import { join } from 'node:path';
import { type Clock, Deadline } from '#libs/clock';
import type { CommandContext } from '../terminal.js';
import type { DemoFiles } from './demo-files.js';
import { demoHost, type DemoPorts } from './demo-ports.js';
import { waitUntilReady } from './readiness.js';
import { ServiceLog } from './service-log.js';
import { type ServiceEnd, ServiceProcess } from './service-process.js';
import { egressReadyUrl, readyUrl, welcome } from './welcome.js';

const START_LIMIT_MS = 60_000;

interface DemoSetup {
  /** The folder with package.json and dist/. */
  readonly checkout: string;
  readonly ports: DemoPorts;
  readonly files: DemoFiles;
}

/**
 * Runs the services until the context's signal aborts or one of them ends by itself, and then ends the rest.
 * @returns what went wrong; undefined if the user ended the demo
 */
export async function runDemo(setup: DemoSetup, context: CommandContext): Promise<ServiceEnd | undefined> {
  const log = new ServiceLog(context.terminal);
  const services = startServices(setup, { context, log });
  const over = firstOf(services, context.signal);
  try {
    const failure = await untilReady(setup, { clock: context.clock, over });
    if (failure === undefined && !context.signal.aborted) {
      context.terminal.out(welcome(setup.ports, setup.files));
      log.open();
    }
    return failure ?? (await over.reason);
  } finally {
    // Callers end before what they call: the egress may still need the broker, and the broker the gateway.
    for (const service of services) await service.stop();
  }
}

function startServices(
  { checkout, ports, files }: DemoSetup,
  { context, log }: { readonly context: CommandContext; readonly log: ServiceLog },
): readonly ServiceProcess[] {
  const start = (name: string, settings: Readonly<Record<string, string>>): ServiceProcess =>
    new ServiceProcess({
      name,
      clock: context.clock,
      script: join(checkout, 'dist', 'programs', `${name}.js`),
      environment: {
        NODE_COMPILE_CACHE: join(checkout, 'node_modules', '.cache', 'compile'),
        ...context.environment,
        ...settings,
      },
      onLine: log.line,
    });
  const sandbox = start('sandbox', {
    SANDBOX_HOST: demoHost,
    SANDBOX_PORT: String(ports.sandbox),
    SANDBOX_MERCHANTS: files.sandboxMerchants,
  });
  const broker = start('broker', { BROKER_CONFIG: files.brokerConfig });
  const egress = start('egress', { EGRESS_CONFIG: files.egress.config });
  return [egress, broker, sandbox];
}

/** The end of the demo: a service that ended by itself, or (without a reason) the user's request. */
interface Over {
  readonly signal: AbortSignal;
  readonly reason: Promise<ServiceEnd | undefined>;
}

function firstOf(services: readonly ServiceProcess[], signal: AbortSignal): Over {
  const over = new AbortController();
  const asked = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const reason = Promise.race([asked, ...services.map((service) => service.ended)]).finally(() => over.abort());
  return { signal: over.signal, reason };
}

async function untilReady(
  { ports }: DemoSetup,
  { clock, over }: { readonly clock: Clock; readonly over: Over },
): Promise<ServiceEnd | undefined> {
  const deadline = new Deadline(clock, START_LIMIT_MS, over.signal);
  const awaited = [
    ['broker', readyUrl(ports)],
    ['egress', egressReadyUrl(ports)],
  ] as const;
  try {
    for (const [name, url] of awaited) {
      if (await waitUntilReady({ url, clock, signal: deadline.signal })) continue;
      return deadline.expired
        ? { name, reason: `it is not ready after ${START_LIMIT_MS / 1000} s` }
        : await over.reason;
    }
    return undefined;
  } finally {
    deadline.close();
  }
}
