import type { Command } from 'commander';
import type { BrokerOptions } from './broker/broker-place.js';
import type { Report } from './report.js';
import type { CommandContext } from './terminal.js';

interface BrokerVerbs {
  readonly verb: (parent: Command, usage: string, description: string) => Command;
  readonly run: (options: { readonly json?: true }, work: () => Promise<Report>) => Promise<void>;
  readonly context: CommandContext;
  readonly ended: (exitCode: number) => void;
}

interface Given extends Omit<BrokerOptions, 'urls'> {
  readonly url?: readonly string[];
  readonly json?: true;
}

/** The addresses of a broker as given on the command line or in the environment. */
export function givenUrls({ url }: Pick<Given, 'url'>, { environment }: Pick<CommandContext, 'environment'>): string[] {
  const given = url ?? [environment['BROKER_URL'] ?? ''];
  return given.flatMap((text) => text.split(/[\s,]+/)).filter((text) => text !== '');
}

type Options = BrokerOptions & Pick<Given, 'json'>;
interface OfMerchant {
  readonly merchant: string;
}

const withBroker = (command: Command): Command =>
  command
    .option('--url <url...>', 'of the broker, or of each replica, separated by blanks or commas (default: BROKER_URL)')
    .option('--token-file <file>', 'with the bearer token (default: BROKER_TOKEN_FILE)')
    .option('--ca-file <file>', "authorities to trust, PEM (default: BROKER_CA_FILE, or the platform's)");

const ofMerchant = (command: Command): Command =>
  withBroker(command).requiredOption('--merchant <id>', 'merchant of the broker');

const EMPTY_MERCHANT = 'error: --merchant is empty: is its variable set?';

type Action<Wanted> = (options: Wanted & Options) => Promise<void>;

/** Runs the action with the broker that is meant. If none is named, the command line is at fault, as with a file. */
function asking<Wanted extends object>(
  context: CommandContext,
  action: Action<Wanted>,
): (given: Wanted & Given, command: Command) => Promise<void> {
  return (given, command) => {
    if ('merchant' in given && given.merchant === '') return command.error(EMPTY_MERCHANT);
    const [first, ...others] = givenUrls(given, context);
    if (first === undefined) return command.error('error: no broker is named: give --url, or set BROKER_URL');
    return action({ ...given, urls: [first, ...others] });
  };
}

/** The verbs that ask a running broker: `status`, `renew`, and `session watch` under the given `session`. */
export function addBrokerVerbs(program: Command, session: Command, { verb, run, context, ended }: BrokerVerbs): void {
  withBroker(verb(program, 'status', 'show every merchant as every replica of a running broker sees it')).action(
    asking<object>(context, (options) =>
      run(options, async () => (await import('./commands/status.js')).status(options, context)),
    ),
  );
  ofMerchant(verb(program, 'renew', 'have a running broker create a session now, even during its back-off')).action(
    asking<OfMerchant>(context, (options) =>
      run(options, async () => (await import('./commands/renew.js')).renew(options, context)),
    ),
  );
  ofMerchant(session.command('watch'))
    .description('print a line for each new session of a running broker, until Ctrl-C')
    .option('--json', 'one JSON object on each line; its "event" is session or ended')
    .action(
      asking<OfMerchant>(context, async (options) =>
        ended(await (await import('./commands/session-watch.js')).sessionWatch(options, context)),
      ),
    );
}
