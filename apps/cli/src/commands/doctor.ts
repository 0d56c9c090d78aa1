import { type BrokerConfiguration, checkConfiguration, ConfigurationError } from '#libs/configuration';
import type { EgressConfiguration, Environment, Fault, MerchantConfiguration } from '#libs/configuration';
import type { NamedFile, PartlyChecked, Surroundings } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { GatewayConnections } from '#libs/gateway';
import { OutboundConnections } from '#libs/outbound';
import { chosenMerchant, demandConsent } from '../chosen-merchant.js';
import { certificatesCheck } from '../doctor/certificates-check.js';
import { type Check, fact, fault, looked, some, type Verdict, warning } from '../doctor/check.js';
import { crossCheck } from '../doctor/cross-check.js';
import { doctorReport } from '../doctor/doctor-report.js';
import { brokerChecks } from '../doctor/egress-checks.js';
import { environmentCheck } from '../doctor/environment-check.js';
import { filesCheck } from '../doctor/files-check.js';
import { gatewayChecks } from '../doctor/gateway-checks.js';
import { type GatewayTools, GatewayVisit, visitsOf } from '../doctor/gateway-visit.js';
import { issuerCheck } from '../doctor/issuer-check.js';
import { keysCheck } from '../doctor/keys-check.js';
import { runChecks } from '../doctor/run-checks.js';
import { sessionCreateCheck, sessionNotAskedCheck } from '../doctor/session-create-check.js';
import { storeChecks, StoreVisit } from '../doctor/store-checks.js';
import { placeOf, type Report } from '../report.js';
import type { CommandContext } from '../terminal.js';

export interface DoctorOptions {
  readonly merchant?: string;
  /** A server that answers with its caller's address, to find out which one the world sees. */
  readonly echoUrl?: string;
  readonly createSession?: true;
  readonly crossCheck?: true;
  readonly yes?: true;
}

/**
 * Checks the configuration of a broker or an egress against the world, if it loads: if it does not, its faults are all
 * that is reported. The report says what is wrong, and the exit code gives its class.
 * @throws BrokerError before anything is sent, if what is asked for is not allowed: `invalid_request`,
 * `merchant_not_found`
 */
export async function doctor(file: string, options: DoctorOptions, context: CommandContext): Promise<Report> {
  const { clock, environment, signal } = context;
  const echo = options.echoUrl === undefined ? undefined : echoUrlOf(options.echoUrl);
  const read = await readAsFound(file, context);
  const connections = new GatewayConnections(clock);
  const resources: Closable[] = [connections];
  const place: Place = {
    ...{ file, echo, environment, tools: { clock, connections } },
    closeAfter: (resource) => {
      resources.push(resource);
      return resource;
    },
  };
  try {
    const checks = [configurationCheck(read.verdict), ...checksOf(read, options, place)];
    return doctorReport(file, await runChecks(checks, { clock, signal }));
  } finally {
    await Promise.all(resources.map((each) => each.close()));
  }
}

interface Closable {
  readonly close: () => Promise<unknown>;
}

interface Place {
  readonly file: string;
  readonly echo: URL | undefined;
  readonly environment: Environment;
  readonly tools: GatewayTools;
  readonly closeAfter: <Resource extends Closable>(resource: Resource) => Resource;
}

const refusal = (detail: string): BrokerError => new BrokerError('invalid_request', { detail });

function echoUrlOf(text: string): URL {
  const url = /^https?:\/\/[^\s\\@#]+$/i.test(text) ? URL.parse(text) : null;
  if (url !== null) return url;
  throw refusal('--echo-url must be an http or https URL without user or fragment');
}

type Read = { readonly verdict: Verdict } & (
  { readonly broker: BrokerConfiguration } | { readonly egress: EgressConfiguration } | object
);

const SKIPPED = 'nothing else is checked until the configuration loads';

/** Reads the file as the process that it is for does, with every file that it names. */
async function readAsFound(file: string, surroundings: Surroundings): Promise<Read> {
  try {
    const checked = await checkConfiguration(file, surroundings);
    if (checked.error !== undefined) throw checked.error;
    const { configuration: found, unset } = checked;
    if (found === undefined) return { verdict: { kind: 'not_run', reason: lackOf(unset) } };
    return 'clients' in found
      ? { egress: found, verdict: rightWith(found, `clients: ${found.clients.length}, routes: ${found.routes.length}`) }
      : {
          broker: found,
          verdict: rightWith(found, `merchants: ${found.merchants.length}, store: ${found.store.type}`),
        };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const faults = error.faults.map((each) => fault('invalidInput', `${placeOf(each)} ${each.problem}`, SEE_PAGE));
    return { verdict: looked([...faults, fact(SKIPPED)]) };
  }
}

const SEE_PAGE = 'see docs/configuration.md, or docs/egress-configuration.md for an egress';

/** Leads to exit code 6, as in `config check`: the file is not known to be wrong. */
function lackOf(unset: PartlyChecked['unset']): string {
  const lacking = some(unset.map((value) => `${value.variable} for ${placeOf(value)}`));
  return `environment variables are not set: ${lacking}; run the doctor in the environment of that process; ${SKIPPED}`;
}

interface Found {
  readonly files: readonly NamedFile[];
  readonly warnings: readonly Fault[];
}

/** What the process itself says at its start; how long certificates are good for is up to their own check. */
function rightWith({ files, warnings }: Found, what: string): Verdict {
  const certificates = new Set(certificatesAmong(files).map(({ path }) => path));
  const told = warnings.filter(({ path }) => !certificates.has(path));
  return looked([fact(what), ...told.map((each) => warning(`${placeOf(each)} ${each.problem}`, SEE_PAGE))]);
}

const configurationCheck = (verdict: Verdict): Check => ({
  name: 'configuration',
  limitMs: 5_000,
  run: () => Promise.resolve(verdict),
});

const certificatesAmong = (files: readonly NamedFile[]): readonly NamedFile[] =>
  files.filter(({ content }) => content === 'certificates');

/** From near to far, with those that create sessions last. */
function checksOf(read: Read, options: DoctorOptions, place: Place): readonly Check[] {
  if ('broker' in read) return checksOfBroker(read.broker, options, place);
  return 'egress' in read ? checksOfEgress(read.egress, options, place) : [];
}

function checksOfBroker(configuration: BrokerConfiguration, options: DoctorOptions, place: Place): readonly Check[] {
  const { http, management, store, auth, files } = configuration;
  const { file, echo, tools, closeAfter, environment } = place;
  const { clock } = tools;
  const merchants = merchantsFor(options, configuration);
  return [
    environmentCheck({ connections: http.maxWatchers, because: 'http.maxWatchers', environment }),
    ...fileChecks(files, place),
    keysCheck(file, configuration),
    ...(store.type === 'redis' ? storeChecks(closeAfter(new StoreVisit(store, clock)), clock) : []),
    ...(auth.jwt?.keys.kind === 'uri' ? [issuerCheck(auth.jwt.issuer, auth.jwt.keys, clock)] : []),
    ...visitsOf(merchants, tools).flatMap((visit) => gatewayChecks(visit, { echo, own: [http, management] })),
    ...merchants.slice(0, 1).flatMap((merchant) => probes(merchant, options, tools)),
  ];
}

function fileChecks(files: readonly NamedFile[], { file, tools }: Place): readonly Check[] {
  const certificates = certificatesAmong(files);
  return [
    filesCheck(file, files),
    ...(certificates.length === 0 ? [] : [certificatesCheck(file, certificates, () => tools.clock.now())]),
  ];
}

/** What sends more than a harmless query, and therefore only runs on request. */
function probes(merchant: MerchantConfiguration, options: DoctorOptions, tools: GatewayTools): readonly Check[] {
  return [
    ...(options.crossCheck === true ? [crossCheck(merchant, tools)] : []),
    options.createSession === true ? sessionCreateCheck(merchant, tools) : sessionNotAskedCheck,
  ];
}

/** The merchants whose gateways to look at: only one if there are probes, once it is certain that they are allowed. */
function merchantsFor(options: DoctorOptions, { merchants }: BrokerConfiguration): readonly MerchantConfiguration[] {
  const { merchant: id, createSession = false, crossCheck: crossed = false, yes = false } = options;
  const chosen = id === undefined ? merchants : [chosenMerchant(merchants, id)];
  const [merchant, another] = chosen;
  if (merchant === undefined || !(createSession || crossed)) return chosen;
  if (another !== undefined) throw refusal('several merchants are configured: choose one with --merchant');
  if (createSession) demandConsent(merchant, yes);
  if (crossed && merchant.gateway.testBaseUrl === undefined)
    throw refusal(`--cross-check needs gateway.testBaseUrl of ${merchant.id}, which only a test environment has`);
  return chosen;
}

/** Connections of clients and to the gateway under load. */
const USUAL_CONNECTIONS = 1_000;

/** None of them creates a session or sends a payment. */
function checksOfEgress(configuration: EgressConfiguration, options: DoctorOptions, place: Place): readonly Check[] {
  const { merchant, createSession, crossCheck: crossed } = options;
  if ([merchant, createSession, crossed].some((each) => each !== undefined))
    throw refusal(`${place.file} configures an egress: only --echo-url goes with it`);
  const { gateway, broker, listen, management, files } = configuration;
  const { echo, tools } = place;
  const { clock } = tools;
  const visit = new GatewayVisit({ gateway, subject: gateway.baseUrl.host }, tools);
  const connections = place.closeAfter(new OutboundConnections({ clock }));
  return [
    environmentCheck({
      connections: USUAL_CONNECTIONS,
      because: 'an egress under load',
      environment: place.environment,
    }),
    ...fileChecks(files, place),
    ...brokerChecks({ settings: broker, clock, connections }, configuration),
    ...gatewayChecks(visit, { echo, own: [listen, management] }),
  ];
}
