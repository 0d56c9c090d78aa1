import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { demoHost, type DemoPorts } from './demo-ports.js';
import { keepKey, keepText, keepToken, replaceFile, sha256Of } from './kept-files.js';

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;
const BROKER_TOKEN = 'egress-token';
const ALIAS_KEY = 'egress-alias.jwk.json';
const CLIENT_KEY = 'shop-client.jwk.json';
const CLIENT_PUBLIC_KEY = 'shop-client.pub.jwk.json';

export interface DemoEgressFiles {
  readonly config: string;
  /** The token of the client `shop`, which sends and receives plain JSON. */
  readonly clientToken: string;
  /** What an unchanged client of the bank's interface sends as its serviceCode. */
  readonly serviceCodeAlias: string;
  /** The private key of that client. */
  readonly clientKey: string;
}

export interface EgressSecrets {
  /** What the egress presents to the broker. */
  readonly brokerToken: string;
  readonly clientToken: string;
  readonly serviceCodeAlias: string;
}

/** Keys, tokens and alias, which are kept from one start to the next. */
export async function keepEgressSecrets(folder: string): Promise<EgressSecrets> {
  const [brokerToken, clientToken, serviceCodeAlias, publicJwk] = await Promise.all([
    keepToken(join(folder, BROKER_TOKEN)),
    keepToken(join(folder, 'shop-token')),
    keepText(join(folder, 'shop-alias'), { form: UUID, make: randomUUID }),
    keepKey(join(folder, CLIENT_KEY)),
    keepKey(join(folder, ALIAS_KEY)),
  ]);
  await replaceFile(join(folder, CLIENT_PUBLIC_KEY), `${JSON.stringify(publicJwk, null, 2)}\n`);
  return { brokerToken, clientToken, serviceCodeAlias };
}

interface EgressPlace {
  readonly folder: string;
  readonly ports: DemoPorts;
  readonly secrets: EgressSecrets;
}

/** The egress's configuration, written afresh at each start. */
export async function writeEgressFiles({ folder, ports, secrets }: EgressPlace): Promise<DemoEgressFiles> {
  const { clientToken, serviceCodeAlias } = secrets;
  const config = join(folder, `egress-${ports.egress}.yaml`);
  await replaceFile(config, egressYaml(ports, secrets));
  return { config, clientToken, serviceCodeAlias, clientKey: join(folder, CLIENT_KEY) };
}

function egressYaml(ports: DemoPorts, { clientToken, serviceCodeAlias }: EgressSecrets): string {
  return `# Written by npm start, anew each time: a copy of it is a start for a configuration of your own.
egress:
  listen: { host: ${demoHost}, port: ${ports.egress} }
  management: { host: ${demoHost}, port: ${ports.egressManagement} }
  broker: { url: "http://${demoHost}:${ports.broker}", tokenFile: ${BROKER_TOKEN} }
  gateway: { baseUrl: "http://${demoHost}:${ports.sandbox}", environment: test, timeout: 10s }
  aliasKeyFiles: [${ALIAS_KEY}]
  audit: { destination: none }
  clients:
    - name: shop
      merchant: shop
      token: { sha256: "${sha256Of(clientToken)}" }
      serviceCodeAlias: ${serviceCodeAlias}
      publicKeyFile: ${CLIENT_PUBLIC_KEY}
`;
}
