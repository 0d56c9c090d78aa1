import { createServer } from 'node:net';
import { BrokerError } from '#libs/errors';
import { systemCodeOf } from '../system-error.js';

/** Everything of the demo stays on this machine. */
export const demoHost = '127.0.0.1';

export interface DemoPorts {
  readonly broker: number;
  readonly management: number;
  readonly sandbox: number;
}

export interface DemoPortOptions {
  readonly brokerPort?: string;
  readonly managementPort?: string;
  readonly sandboxPort?: string;
}

interface PortWish {
  readonly role: keyof DemoPorts;
  readonly variable: string;
  readonly text: string;
}

/**
 * The three ports: from the command line, otherwise the environment, otherwise the defaults; 0 takes any free one. Each
 * is tried here, so that a taken one is one clear line before anything starts.
 * @throws BrokerError `address_in_use` or `configuration_invalid`, naming the port and how to choose another
 */
export async function chooseDemoPorts(
  options: DemoPortOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<DemoPorts> {
  const wish = (role: keyof DemoPorts, variable: string, standard: string): PortWish => ({
    role,
    variable,
    text: options[`${role}Port`] ?? environment[variable] ?? standard,
  });
  const broker = await freePort(wish('broker', 'DEMO_BROKER_PORT', '8080'));
  const management = await freePort(wish('management', 'DEMO_MANAGEMENT_PORT', '9464'));
  const sandbox = await freePort(wish('sandbox', 'DEMO_SANDBOX_PORT', '8081'));
  if (new Set([broker, management, sandbox]).size < 3) {
    throw new BrokerError('configuration_invalid', { detail: 'broker, management and sandbox need three ports' });
  }
  return { broker, management, sandbox };
}

async function freePort({ role, variable, text }: PortWish): Promise<number> {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535) {
    throw new BrokerError('configuration_invalid', { detail: `${variable} must be a port number, 0 for any free one` });
  }
  const server = createServer();
  try {
    return await new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, demoHost, () => resolve((server.address() as { port: number }).port));
    });
  } catch (error) {
    const reason = systemCodeOf(error) === 'EADDRINUSE' ? 'is taken' : 'is not usable';
    const another = `choose another with ${variable}=<port> npm start (0: any free one)`;
    throw new BrokerError('address_in_use', {
      detail: `port ${port} for the ${role} ${reason}; ${another}`,
      cause: error,
    });
  } finally {
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  }
}
