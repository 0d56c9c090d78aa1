import { writtenAddress } from '#libs/configuration';
import { BrokerError } from '#libs/errors';

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** @throws BrokerError `address_in_use` naming the address and what to do */
export async function listen(
  { host, port }: Address,
  open: (address: { host: string; port: number }) => Promise<string>,
): Promise<string> {
  try {
    return await open({ host, port });
  } catch (error) {
    if (codeOf(error) !== 'EADDRINUSE') throw error;
    throw new BrokerError('address_in_use', {
      detail: `${writtenAddress({ host, port })} is taken; stop what listens there, or choose another port`,
      cause: error,
    });
  }
}

/** Of an error of the system, from whichever realm it comes. */
function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
