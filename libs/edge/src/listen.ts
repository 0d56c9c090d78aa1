import { once } from 'node:events';
import type { Server } from 'node:net';
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
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new BrokerError('address_in_use', {
      detail: `${writtenAddress({ host, port })} is taken; stop what listens there, or choose another port`,
      cause: error,
    });
  }
}

/**
 * Opens a bare server.
 * @returns where it can be reached, with an IPv6 address in brackets
 * @throws BrokerError `address_in_use` naming the address and what to do
 */
export function openServer(server: Server, address: Address, scheme: 'http' | 'https' = 'http'): Promise<string> {
  return listen(address, async (free) => {
    server.listen(free);
    // Rejects with the error that the server emits.
    await once(server, 'listening');
    return urlOf(server, scheme);
  });
}

function urlOf(server: Server, scheme: string): string {
  const opened = server.address();
  if (opened === null || typeof opened === 'string') throw new Error('the server listens on no port');
  return `${scheme}://${writtenAddress({ host: opened.address, port: opened.port })}`;
}
