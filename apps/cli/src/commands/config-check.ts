import {
  type BrokerConfiguration,
  checkConfiguration,
  type EgressConfiguration,
  type PartlyChecked,
  writtenAddress,
} from '#libs/configuration';
import { createSessionAddress } from '#libs/session';
import { exitCodes } from '../exit-codes.js';
import { placed, placeOf, type Report } from '../report.js';
import type { CommandContext } from '../terminal.js';

interface ConfigCheckOptions {
  readonly file: string;
  /** If set, neither the environment nor the named files need to be there. */
  readonly structure?: true;
}

/** What a valid file sets up, in lines for people and in members for programs. */
type Summary = Pick<Report, 'lines' | 'json'>;

const MAX_NAMES = 10;
/** Never suggests a default in the file: what is left to the environment is usually a secret. */
const UNSET_ADVICE =
  'set the variables as they are where it runs; on a machine without secrets, --structure checks all but these';

/**
 * Reads the configuration of a broker or of an egress, with every file that it names, using their own readers. If
 * variables are not set, everything else is checked, and the report is incomplete.
 * @throws ConfigurationError with every fault, each with its path in the file
 */
export async function configCheck(
  options: ConfigCheckOptions,
  { environment, clock }: CommandContext,
): Promise<Report> {
  const { file, structure = false } = options;
  const checked = await checkConfiguration(file, { environment, clock, reads: structure ? 'structure' : 'files' });
  const { kind, error, configuration, warnings } = checked;
  if (error !== undefined) throw error;
  if (configuration === undefined) return partReport(options, checked);
  const { lines, json } = 'clients' in configuration ? summaryOfEgress(configuration) : summaryOfBroker(configuration);
  return { lines: [`${file} is valid`, ...lines], json: { file, kind, ...json }, warnings: warnings.map(placed) };
}

function partReport({ file, structure }: ConfigCheckOptions, { kind, unset, files, warnings }: PartlyChecked): Report {
  const unread = structure === true ? files : [];
  return {
    lines: [
      `${file} is right in its structure; not looked at:`,
      ...unset.map((value) => `  ${placeOf(value)}: the environment variable ${value.variable} is not set`),
      ...unread.map(({ path, content }) => `  ${path}: ${content === 'secret' ? 'a secret file' : 'a file'}, not read`),
      ...(structure === true ? [] : [UNSET_ADVICE]),
    ],
    json: {
      file,
      kind,
      unset: unset.map(({ path, line, variable }) => ({ path, line, variable })),
      unread: unread.map(({ path, content }) => ({ path, content })),
    },
    warnings: warnings.map(placed),
    exitCode: structure ? exitCodes.ok : exitCodes.incomplete,
  };
}

function summaryOfBroker({ http, management, store, merchants }: BrokerConfiguration): Summary {
  const ids = merchants.map(({ id }) => id);
  const byAddress = new Map<string, string[]>();
  for (const { id, gateway } of merchants) {
    const { href } = createSessionAddress(gateway);
    byAddress.set(href, [...(byAddress.get(href) ?? []), id]);
  }
  const addresses = [...byAddress].slice(0, MAX_NAMES);
  return {
    lines: [
      `http         ${writtenAddress(http)}`,
      `management   ${writtenAddress(management)}`,
      `store        ${store.type}`,
      `merchants    ${counted(ids)}`,
      ...addresses.map(([address, of]) => `creates at   ${address} (${some(of)})`),
    ],
    json: {
      ...{ http: withoutKeys(http), management, store: store.type, merchants: ids },
      createsAt: Object.fromEntries(merchants.map(({ id, gateway }) => [id, createSessionAddress(gateway)])),
    },
  };
}

function summaryOfEgress({ listen, management, broker, gateway, clients, routes }: EgressConfiguration): Summary {
  const names = clients.map(({ name }) => name);
  return {
    lines: [
      `listen       ${writtenAddress(listen)}`,
      `management   ${writtenAddress(management)}`,
      `broker       ${broker.url.href}`,
      `gateway      ${gateway.baseUrl.href} (${gateway.environment})`,
      `clients      ${counted(names)}`,
      `routes       ${counted(routes.map(({ path, body }) => `${path} ${body}`))}`,
    ],
    json: {
      listen: withoutKeys(listen),
      management,
      broker: broker.url,
      gateway: { baseUrl: gateway.baseUrl, environment: gateway.environment },
      clients: names,
      routes,
    },
  };
}

function counted(names: readonly string[]): string {
  return `${names.length} (${some(names)})`;
}

function some(names: readonly string[]): string {
  return `${names.slice(0, MAX_NAMES).join(', ')}${names.length > MAX_NAMES ? ', …' : ''}`;
}

/** Whether there is TLS, but nothing of what its files hold: one of them is a private key. */
function withoutKeys<Server extends { readonly tls?: object }>(server: Server): Omit<Server, 'tls'> & { tls: boolean } {
  return { ...server, tls: server.tls !== undefined };
}
