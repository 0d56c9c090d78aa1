import { BrokerError, type ErrorCode, type Fault } from '#libs/errors';

/** A contract with scripts: docs/reference/command-line.md has the same table. */
export const exitCodes = {
  ok: 0,
  /** Something on this machine or inside the program: a port in use, a process that died, a bug of ours. */
  failed: 1,
  /**
   * A given file or value is not usable: a configuration, a key, a merchant that does not exist; or a server is set up
   * wrongly.
   */
  invalidInput: 2,
  /** The other side says no, or is not trusted: registration, serviceCode, access, rights, certificate. */
  refused: 3,
  /** The same command can succeed later without any change. */
  tryLater: 4,
  /** The gateway's answer, or a newer session in the store, cannot be opened with the configured keys. */
  invalidAnswer: 5,
  /** Nothing is known to be wrong, but not everything could be checked. */
  incomplete: 6,
  /** The command line itself is wrong (sysexits EX_USAGE). */
  usage: 64,
} as const;

/** The classes of fault that a command can end with. */
export type ExitClass = Exclude<keyof typeof exitCodes, 'ok' | 'incomplete' | 'usage'>;

const byFault = {
  caller: 'invalidInput',
  configuration: 'invalidInput',
  peer: 'tryLater',
  dependency: 'tryLater',
  programmer: 'failed',
} as const satisfies Record<Fault, ExitClass>;

const byCode: Partial<Record<ErrorCode, ExitClass>> = {
  gateway_refused: 'refused',
  gateway_revoked: 'refused',
  gateway_invalid_response: 'invalidAnswer',
  address_in_use: 'failed',
};

/** The class of fault of an error. */
export function exitClassOf(error: unknown): ExitClass {
  if (!(error instanceof BrokerError)) return 'failed';
  return byCode[error.code] ?? byFault[error.entry.fault];
}

export const exitCodeOf = (error: unknown): number => exitCodes[exitClassOf(error)];

/** If several things are wrong: what a person has to fix comes first, beginning with what is nearest to them. */
const gravest: readonly ExitClass[] = ['invalidInput', 'failed', 'refused', 'invalidAnswer', 'tryLater'];

/** The gravest of several classes; undefined if there are none. */
export const gravestOf = (classes: readonly ExitClass[]): ExitClass | undefined =>
  gravest.find((candidate) => classes.includes(candidate));
