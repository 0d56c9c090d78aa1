import type { BrokerConfiguration, MerchantConfiguration, StoreConfiguration } from '#libs/configuration';
import { GatewayConnections } from '#libs/gateway';
import { importPaymentKey } from '#libs/jwe';
import { chosenMerchant } from '../chosen-merchant.js';
import { ownUser } from '../doctor/own-user.js';
import { doctorReport } from '../doctor/doctor-report.js';
import { echoUrlOf } from '../doctor/echo-url.js';
import { loadAsFarAsPossible, type LoadedConfiguration } from '../doctor/loaded-configuration.js';
import { machineFacts } from '../doctor/machine.js';
import type { Plan } from '../doctor/plan.js';
import { planChecks } from '../doctor/plan-checks.js';
import { permitProbes, type ProbeWishes, wantsProbes } from '../doctor/probes.js';
import type { RecipientCandidate } from '../doctor/request-data-search.js';
import { runChecks } from '../doctor/run-checks.js';
import { StoreVisit } from '../doctor/store-visit.js';
import { demandKind } from '../file-kind.js';
import { readKeyFile } from '../key-file.js';
import type { Report } from '../report.js';
import type { CommandContext } from '../terminal.js';

export interface DoctorOptions extends ProbeWishes {
  readonly config: string;
  /** A server that answers with its caller's address, to find out which one the world sees. */
  readonly echoUrl?: string;
  /** For `discover`: names of body fields or headers to try first. */
  readonly name?: readonly string[];
  /** For `discover`: files with public keys that the request data could be meant for. */
  readonly recipientKey?: readonly string[];
}

/**
 * Checks a configuration against the world. The report says what is wrong, and the exit code gives its class.
 * @throws BrokerError before anything is sent, if the requested probes are not allowed: `invalid_request`,
 * `merchant_not_found`, `key_file_invalid`
 */
export async function doctor(options: DoctorOptions, context: CommandContext): Promise<Report> {
  const { clock, environment, signal } = context;
  const echo = options.echoUrl === undefined ? undefined : echoUrlOf(options.echoUrl);
  await demandKind(options.config, environment, { kind: 'broker', otherwise: `: doctor --egress ${options.config}` });
  const loaded = await loadAsFarAsPossible(options.config, context);
  const configuration = loaded.kind === 'usable' ? loaded.configuration : undefined;
  const merchants = configuration === undefined ? [] : merchantsFor(options, configuration);
  const recipients = options.discover === true ? await recipientsFor(options, merchants[0], configuration) : [];
  const settings = storeOf(loaded);
  const store = settings?.type === 'redis' ? new StoreVisit(settings, clock) : undefined;
  const connections = new GatewayConnections(clock);
  const plan: Plan = {
    ...{ file: options.config, loaded, machine: await machineFacts(environment), user: ownUser() },
    ...{ tools: { clock, connections }, merchants, wishes: options, names: options.name ?? [], recipients },
    ...(store === undefined ? {} : { store }),
    ...(echo === undefined ? {} : { echo }),
  };
  try {
    return doctorReport(options.config, await runChecks(planChecks(plan), { clock, signal }));
  } finally {
    await Promise.all([connections.close(), store?.close()]);
  }
}

function storeOf(loaded: LoadedConfiguration): StoreConfiguration | undefined {
  if (loaded.kind === 'usable') return loaded.configuration.store;
  return loaded.known !== undefined && 'known' in loaded.known.store ? loaded.known.store.known : undefined;
}

function merchantsFor(options: DoctorOptions, configuration: BrokerConfiguration): readonly MerchantConfiguration[] {
  if (wantsProbes(options)) return [permitProbes(options, configuration)];
  const { merchants } = configuration;
  return options.merchant === undefined ? merchants : [chosenMerchant(merchants, options.merchant)];
}

/** The given keys, the configured one, and the merchant's own: "the public key of the matching algorithm". */
async function recipientsFor(
  { recipientKey = [] }: DoctorOptions,
  merchant: MerchantConfiguration | undefined,
  configuration: BrokerConfiguration | undefined,
): Promise<readonly RecipientCandidate[]> {
  if (merchant === undefined || configuration === undefined) return [];
  const given: RecipientCandidate[] = [];
  for (const file of recipientKey) {
    given.push({ file, key: await importPaymentKey((await readKeyFile(file)).publicJwk) });
  }
  const { requestData } = merchant.gateway;
  const place = `merchants[${configuration.merchants.indexOf(merchant)}]`;
  const fileOf = (path: string): string => configuration.files.find((named) => named.path === path)?.file ?? path;
  const configured =
    requestData.attach === 'none'
      ? []
      : [{ file: fileOf(`${place}.gateway.requestData.recipientKeyFile`), key: requestData.recipient }];
  const own = await importPaymentKey(merchant.clientKeys[0]?.publicJwk);
  const ownFile = `<public half of ${fileOf(`${place}.clientKeyFiles[0]`)}>`;
  return [...given, ...configured, { file: ownFile, key: own }];
}
