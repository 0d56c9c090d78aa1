import { refusedNode, VERSION } from '#libs/program';
import { Command, CommanderError, Option } from 'commander';
import { addBrokerVerbs } from './broker-verbs.js';
import type { DoctorOptions } from './commands/doctor.js';
import type { InitOptions } from './commands/init-kubernetes.js';
import type { SessionCreateOptions } from './commands/session-create.js';
import { addConfigOption, demandConfiguration, withFile } from './configuration-file.js';
import type { SimulateOptions } from './commands/simulate.js';
import type { DemoPortOptions } from './demo/demo-ports.js';
import { exitCodes } from './exit-codes.js';
import { type Report, report } from './report.js';
import { cleanTerminal, type CommandContext } from './terminal.js';

const PROGRAM = 'session-broker';

/**
 * Runs a verb and keeps its exit code. Verbs are loaded when called, so that the demo starts faster without the rest.
 */
type Run = (options: { readonly json?: true }, work: () => Promise<Report>) => Promise<void>;

/**
 * Parses the command line and runs one verb.
 * @param args without the program's own name
 * @returns the exit code
 */
export async function runCli(args: readonly string[], given: CommandContext): Promise<number> {
  const { environment, clock, nodeVersion = process.versions.node } = given;
  const terminal = cleanTerminal(given.terminal);
  const context: CommandContext = {
    ...{ terminal, environment, clock, nodeVersion },
    // Whoever reads it takes care of the ending.
    get signal() {
      return given.signal;
    },
  };
  const refusal = refusedNode(nodeVersion);
  if (refusal !== undefined) {
    terminal.err(`error: ${refusal}`);
    return exitCodes.failed;
  }
  let exitCode: number = exitCodes.ok;
  const run: Run = async ({ json = false }, work) => {
    exitCode = await report({ terminal, json }, work);
  };
  const program = new Command(PROGRAM)
    .description('Keys, configuration and sessions of the session broker.')
    .version(VERSION, '--version', 'print the version')
    // It would explain one word only, and take any other for none.
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.out(text.trimEnd()),
      writeErr: (text) => terminal.err(text.trimEnd()),
    });
  addKeys(program, run);
  addConfig(program, { run, context });
  addInit(program, run);
  const session = addSession(program, { run, context });
  addDoctor(program, { run, context });
  addSimulate(program, { run, context });
  addHealth(program, { run, context });
  const ended = (code: number): void => {
    exitCode = code;
  };
  addBrokerVerbs(program, session, { verb, run, context, ended });
  addDemo(program, { context, ended });
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
  return exitCode;
}

/** What every verb that takes a configuration accepts in addition to its own options. */
type Given<Options> = Options & { readonly config?: string; readonly json?: true };

const verb = (parent: Command, usage: string, description: string): Command =>
  parent.command(usage).description(description).option('--json', 'print one JSON object for programs');

const takesFile = (parent: Command, usage: string, description: string): Command =>
  addConfigOption(verb(parent, usage, description));

function addKeys(program: Command, run: Run): void {
  const keys = program.command('keys').description('make, check and show client keys');
  verb(keys, 'generate', 'make a client key pair; an existing file is never overwritten')
    .requiredOption('--out <file>', 'new file for the private key, mode 0600')
    .option('--public-out <file>', 'new file for the public key (default: it is printed)')
    .action((options: { out: string; publicOut?: string; json?: true }) =>
      run(options, async () => (await import('./commands/keys-generate.js')).keysGenerate(options)),
    );
  verb(keys, 'check <file>', 'check a key file by the rules that the broker applies, and print its RFC 7638 thumbprint')
    .addOption(new Option('--expect <kind>', 'the kind of key that is expected').choices(['private', 'public']))
    .action((file: string, options: { expect?: 'private' | 'public'; json?: true }) =>
      run(options, async () => (await import('./commands/keys-check.js')).keysCheck({ file, ...options })),
    );
  verb(keys, 'public <file>', 'print the public key in the form that the bank takes')
    .option('--out <file>', 'new file for it')
    .action((file: string, options: { out?: string; json?: true }) =>
      run(options, async () => (await import('./commands/keys-public.js')).keysPublic({ file, ...options })),
    );
  verb(keys, 'convert <file>', 'write the key of a PEM file as the JWK that broker and bank take')
    .requiredOption('--out <file>', 'new file for it; mode 0600 for a private key')
    .action((file: string, options: { out: string; json?: true }) =>
      run(options, async () => (await import('./commands/keys-convert.js')).keysConvert({ file, ...options })),
    );
}

interface Wiring {
  readonly run: Run;
  readonly context: CommandContext;
}

function addConfig(program: Command, { run, context }: Wiring): void {
  const config = program.command('config').description('check a configuration file');
  takesFile(
    config,
    withFile('check'),
    'read the file of a broker or an egress as they do; list every fault with its path',
  )
    .option('--structure', 'check the structure alone: variables may be unset, and no other file is read')
    .action((given: string | undefined, options: Given<{ structure?: true }>, command: Command) => {
      const file = demandConfiguration({ ...options, file: given }, context, command);
      return run(options, async () =>
        (await import('./commands/config-check.js')).configCheck({ ...options, file }, context),
      );
    });
}

function addInit(program: Command, run: Run): void {
  verb(
    program.command('init').description('begin an installation'),
    'kubernetes',
    'write a values.yaml and a broker.yaml of your own, and list what to fill in; nothing is overwritten',
  )
    .requiredOption('--out <folder>', 'folder for them, outside the clone')
    .addOption(
      new Option('--intent <name>', 'callers have tokens, or certificates (-mtls)')
        .choices(['production', 'production-mtls'])
        .default('production'),
    )
    .action((options: InitOptions & { json?: true }) =>
      run(options, async () => (await import('./commands/init-kubernetes.js')).initKubernetes(options)),
    );
}

function addSession(program: Command, { run, context }: Wiring): Command {
  const session = program.command('session').description('try the gateway by hand, or follow what a broker has');
  takesFile(
    session,
    withFile('create'),
    'make one real create-session call; it can end the session that payments use now',
  )
    .requiredOption('--merchant <id>', 'merchant to create it for')
    .option('--show-secrets', 'print the tokens too')
    .option('--yes', 'allow it in production')
    .action((file: string | undefined, given: Given<Omit<SessionCreateOptions, 'config'>>, command: Command) => {
      const options = { ...given, config: demandConfiguration({ ...given, file }, context, command) };
      return run(options, async () => (await import('./commands/session-create.js')).sessionCreate(options, context));
    });
  return session;
}

function addDoctor(program: Command, { run, context }: Wiring): void {
  takesFile(
    program,
    withFile('doctor'),
    'check the configuration of a broker or an egress against the world: files, keys, store, gateway, this machine',
  )
    .option('--merchant <id>', 'only the gateway of this merchant; with several merchants, the calls below need it')
    .option('--echo-url <url>', 'print the address that calls come from, as this server tells it')
    .option('--create-session', 'make one real create-session call; it can end the session that payments use now')
    .option('--yes', 'allow --create-session in production')
    .option('--cross-check', 'in a test environment: compare our JWE with that of the gateway')
    .action((file: string | undefined, given: Given<DoctorOptions>, command: Command) => {
      const path = demandConfiguration({ ...given, file }, context, command);
      // Given alone, it might be taken to have created a session.
      if (given.yes === true && given.createSession !== true)
        command.error('error: --yes allows --create-session in production: give both, or neither');
      return run(given, async () => (await import('./commands/doctor.js')).doctor(path, given, context));
    });
}

const SIMULATE_HELP = `
Example: are sessions of an hour renewed in time, even if the bank does not answer for 20 minutes?
  ${PROGRAM} simulate broker.yaml --lifetime 1h --outage 20m

docs/simulate.md explains what it prints.`;

function addSimulate(program: Command, { run, context }: Wiring): void {
  takesFile(
    program,
    withFile('simulate'),
    'play the renewals of a configuration in virtual time, against a gateway that behaves as the options say; reads no other file',
  )
    .option('--merchant <id>', 'only this merchant')
    .option('--lifetime <duration>', 'of a session (default: session.fallbackLifetime)')
    .option('--latency <duration>', 'of a create call, on average', '300ms')
    .option('--failures <percentage>', 'of the create calls, at random', '0%')
    .option(
      '--outage <duration>',
      'of one outage, in which every call fails; it begins with a renewal in the middle',
      '0s',
    )
    .option('--skew <duration>', "by how much the gateway's clock is ahead; -10m: behind", '0s')
    .option('--for <duration>', 'time that is played', '24h')
    .option('--from <day>', 'first day, such as 2026-10-24, for quiet hours (default: today)')
    .option('--replicas <number>', 'of the broker (default: 3, or 1 with the store in memory)')
    .option('--seed <number>', 'of all that is random', '1')
    .addHelpText('after', SIMULATE_HELP)
    .action((file: string | undefined, given: Given<Omit<SimulateOptions, 'config'>>, command: Command) => {
      const options = { ...given, config: demandConfiguration({ ...given, file }, context, command) };
      return run(options, async () => (await import('./commands/simulate.js')).simulateSchedule(options, context));
    });
}

function addHealth(program: Command, { run, context }: Wiring): void {
  verb(
    program,
    'health [url]',
    'ask a running broker for its health (default: http://127.0.0.1:9464/livez); for platforms that run a command in the container',
  ).action((url: string | undefined, options: { json?: true }) =>
    run(options, async () => {
      const { health, LIVENESS_URL } = await import('./commands/health.js');
      return health({ url: url ?? LIVENESS_URL }, context);
    }),
  );
}

interface DemoWiring {
  readonly context: CommandContext;
  readonly ended: (exitCode: number) => void;
}

function addDemo(program: Command, { context, ended }: DemoWiring): void {
  program
    .command('demo')
    .description('run sandbox, broker and egress on this machine, with demo keys and tokens')
    .option('--port-offset <number>', 'added to all ports: 100 turns 8080 into 8180', '0')
    .action(async (options: DemoPortOptions) => {
      const { demo } = await import('./commands/demo.js');
      ended(await demo(options, context));
    });
}
