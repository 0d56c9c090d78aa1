import { createServer, type Server } from 'node:net';
import { nearestName } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { systemCodeOf } from '../system-error.js';

/** The whole demo stays on this machine. */
export const demoHost = '127.0.0.1';

export interface DemoPorts {
  readonly broker: number;
  readonly management: number;
  readonly sandbox: number;
  readonly egress: number;
  readonly egressManagement: number;
}

export interface DemoPortOptions {
  readonly brokerPort?: string;
  readonly managementPort?: string;
  readonly sandboxPort?: string;
  readonly egressPort?: string;
  readonly egressManagementPort?: string;
}

/** How the ports are named and set, and their defaults. */
const ROLES: Readonly<Record<keyof DemoPorts, Omit<PortWish, 'text'> & { readonly standard: string }>> = {
  broker: { title: 'broker', variable: 'DEMO_BROKER_PORT', standard: '8080' },
  management: { title: 'management', variable: 'DEMO_MANAGEMENT_PORT', standard: '9464' },
  sandbox: { title: 'sandbox', variable: 'DEMO_SANDBOX_PORT', standard: '8081' },
  egress: { title: 'egress', variable: 'DEMO_EGRESS_PORT', standard: '8090' },
  egressManagement: {
    title: "egress's management",
    variable: 'DEMO_EGRESS_MANAGEMENT_PORT',
    standard: '9466',
  },
};

interface PortWish {
  readonly title: string;
  readonly variable: string;
  readonly text: string;
}

/**
 * The ports: from the command line, otherwise the environment, otherwise the defaults; 0 takes any free one. Each is
 * tried here, so that a taken port results in one clear line before anything starts.
 * @throws BrokerError `address_in_use` or `configuration_invalid`, naming the port and how to choose another
 */
export async function chooseDemoPorts(
  options: DemoPortOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<DemoPorts> {
  demandKnownVariables(environment);
  const wish = (role: keyof DemoPorts): PortWish => {
    const { title, variable, standard } = ROLES[role];
    return { title, variable, text: options[`${role}Port`] ?? environment[variable] ?? standard };
  };
  const wishes: Readonly<Record<keyof DemoPorts, PortWish>> = {
    broker: wish('broker'),
    management: wish('management'),
    sandbox: wish('sandbox'),
    egress: wish('egress'),
    egressManagement: wish('egressManagement'),
  };
  demandDifferent(Object.values(wishes).map(portOf));
  const held: Server[] = [];
  try {
    const choose = (role: keyof DemoPorts): Promise<number> => hold(wishes[role], held);
    return {
      broker: await choose('broker'),
      management: await choose('management'),
      sandbox: await choose('sandbox'),
      egress: await choose('egress'),
      egressManagement: await choose('egressManagement'),
    };
  } finally {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))));
  }
}

/** A misspelt name would have no effect, which nobody notices until a port is taken. */
function demandKnownVariables(environment: Readonly<Record<string, string | undefined>>): void {
  const known = Object.values(ROLES).map(({ variable }) => variable);
  for (const name of Object.keys(environment).filter((one) => one.startsWith('DEMO_') && !known.includes(one))) {
    const meant = nearestName(name, known);
    if (meant === undefined) continue;
    throw new BrokerError('configuration_invalid', { detail: `there is no ${name}: did you mean ${meant}?` });
  }
}

/** 0 means any free one. */
function portOf({ variable, text }: PortWish): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new BrokerError('configuration_invalid', { detail: `${variable} must be a port number, 0 for any free one` });
}

function demandDifferent(ports: readonly number[]): void {
  const named = ports.filter((port) => port !== 0);
  if (new Set(named).size === named.length) return;
  throw new BrokerError('configuration_invalid', { detail: `each of ${ports.length} ports must be another one` });
}

/** Held until all ports are chosen: a released one could be handed out again as the next free one. */
async function hold(wish: PortWish, held: Server[]): Promise<number> {
  const { title, variable } = wish;
  const port = portOf(wish);
  const server = createServer();
  try {
    return await new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, demoHost, () => {
        held.push(server);
        resolve((server.address() as { port: number }).port);
      });
    });
  } catch (error) {
    const reason = systemCodeOf(error) === 'EADDRINUSE' ? 'is taken' : 'is not usable';
    const another = `choose another with ${variable}=<port> npm start (0: any free one)`;
    throw new BrokerError('address_in_use', {
      detail: `port ${port} for the ${title} ${reason}; ${another}`,
      cause: error,
    });
  }
}
