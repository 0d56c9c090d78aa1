import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
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
  /** By how much all of them are further on. */
  readonly portOffset?: string;
}

interface Role {
  readonly title: string;
  readonly variable: string;
  readonly standard: number;
}

/** How the ports are named and set, and their defaults. */
const ROLES: Readonly<Record<keyof DemoPorts, Role>> = {
  broker: { title: 'broker', variable: 'DEMO_BROKER_PORT', standard: 8080 },
  management: { title: 'management', variable: 'DEMO_MANAGEMENT_PORT', standard: 9464 },
  sandbox: { title: 'sandbox', variable: 'DEMO_SANDBOX_PORT', standard: 8081 },
  egress: { title: 'egress', variable: 'DEMO_EGRESS_PORT', standard: 8090 },
  egressManagement: { title: "egress's management", variable: 'DEMO_EGRESS_MANAGEMENT_PORT', standard: 9466 },
};
const MAX_PORT = 65_535;

interface PortWish extends Role {
  readonly name: keyof DemoPorts;
  readonly port: number;
}

/**
 * The ports: from the environment, where 0 takes any free one, otherwise the defaults, all moved on by the offset. Each
 * is tried here, so that those that are taken result in one clear line before anything starts.
 * @throws BrokerError `address_in_use` or `configuration_invalid`, naming the ports and how to choose others
 */
export async function chooseDemoPorts(
  { portOffset = '0' }: DemoPortOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<DemoPorts> {
  const offset = wholeNumber('--port-offset', portOffset);
  const wishes = (Object.keys(ROLES) as (keyof DemoPorts)[]).map((name): PortWish => {
    const role = ROLES[name];
    const text = environment[role.variable];
    const port = text === undefined ? role.standard : wholeNumber(role.variable, text);
    return { ...role, name, port: port === 0 ? 0 : port + offset };
  });
  demandPossible(wishes.map(({ port }) => port));
  // Held until all are chosen: a released one could be handed out again as the next free one.
  const held = await Promise.all(wishes.map(hold));
  const servers = held.filter((one) => typeof one !== 'string');
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  if (servers.length < wishes.length) throw notToBeHad(wishes, held);
  return Object.fromEntries(wishes.map(({ name }, index) => [name, ports[index]])) as unknown as DemoPorts;
}

/** 0 means any free one, for a port. */
function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (/^\d{1,5}$/.test(text) && number <= MAX_PORT) return number;
  throw new BrokerError('configuration_invalid', { detail: `${name} must be a whole number from 0 to ${MAX_PORT}` });
}

function demandPossible(ports: readonly number[]): void {
  const named = ports.filter((port) => port !== 0);
  if (new Set(named).size < named.length)
    throw new BrokerError('configuration_invalid', { detail: `the ${ports.length} ports must differ` });
  if (Math.max(...ports) > MAX_PORT)
    throw new BrokerError('configuration_invalid', { detail: `--port-offset leads past the last port, ${MAX_PORT}` });
}

/** @returns a server that holds the port, or why it cannot */
async function hold({ port }: PortWish): Promise<Server | 'is taken' | 'is not usable'> {
  const server = createServer().listen(port, demoHost);
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    return systemCodeOf(error) === 'EADDRINUSE' ? 'is taken' : 'is not usable';
  }
}

function notToBeHad(wishes: readonly PortWish[], held: readonly (Server | string)[]): BrokerError {
  const lost = wishes.flatMap((wish, index) =>
    typeof held[index] === 'string' ? [{ ...wish, why: held[index] }] : [],
  );
  const which = lost.map(({ title, port, why }) => `port ${port} for the ${title} ${why}`).join(', ');
  const others = lost.map(({ variable }) => `${variable}=<port>`).join(' ');
  return new BrokerError('address_in_use', {
    detail: `${which}; move all ports with npm start -- --port-offset <number>, or choose others with ${others} npm start (0: any free one)`,
  });
}
