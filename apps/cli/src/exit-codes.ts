import { BrokerError, type ErrorCode, type Fault } from '#libs/errors';

/** A contract with scripts: README.md of this app has the same table. */
export const exitCodes = {
  ok: 0,
  /** Something on this machine or inside the program: a taken port, a process that died, a fault of ours. */
  failed: 1,
  /** A file or value that was given is not usable: configuration, key, merchant. */
  invalidInput: 2,
  /** The gateway or the bank says no: registration, serviceCode or access. */
  refused: 3,
  /** The same command can succeed later without a change. */
  tryLater: 4,
  /** The gateway's answer is not a session that the configured key opens. */
  invalidAnswer: 5,
  /** The command line itself is wrong (sysexits EX_USAGE). */
  usage: 64,
} as const;

const byFault = {
  caller: exitCodes.invalidInput,
  configuration: exitCodes.invalidInput,
  peer: exitCodes.tryLater,
  dependency: exitCodes.tryLater,
  programmer: exitCodes.failed,
} as const satisfies Record<Fault, number>;

const byCode: Partial<Record<ErrorCode, number>> = {
  gateway_refused: exitCodes.refused,
  gateway_revoked: exitCodes.refused,
  gateway_invalid_response: exitCodes.invalidAnswer,
  address_in_use: exitCodes.failed,
};

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof BrokerError)) return exitCodes.failed;
  return byCode[error.code] ?? byFault[error.entry.fault];
}
