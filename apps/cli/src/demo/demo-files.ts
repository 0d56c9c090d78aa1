import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { BrokerError } from '#libs/errors';
import { type DemoEgressFiles, keepEgressSecrets, writeEgressFiles } from './demo-egress-files.js';
import { demoHost, type DemoPorts } from './demo-ports.js';
import { keepKey, keepToken, replaceFile, sha256Of } from './kept-files.js';

/** The service code of the interface description's own example. */
export const DEMO_SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';
const SESSION_LIFETIME_MS = 60_000;

export interface DemoFiles {
  readonly token: string;
  readonly brokerConfig: string;
  readonly sandboxMerchants: string;
  readonly egress: DemoEgressFiles;
}

/**
 * What the demo needs, in a folder that nobody else may read. Key and token are kept from one start to the next unless
 * damaged; the configuration is rewritten. Its files have the port in their names, so that two demos can run.
 * @throws BrokerError `key_file_invalid` if the folder cannot be used
 */
export async function prepareDemoFiles(folder: string, ports: DemoPorts): Promise<DemoFiles> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    const [publicJwk, token, secrets] = await Promise.all([
      keepKey(join(folder, 'client.jwk.json')),
      keepToken(join(folder, 'token')),
      keepEgressSecrets(folder),
    ]);
    const brokerConfig = join(folder, `broker-${ports.broker}.yaml`);
    const sandboxMerchants = join(folder, `sandbox-${ports.sandbox}.json`);
    const [egress] = await Promise.all([
      writeEgressFiles({ folder, ports, secrets }),
      replaceFile(brokerConfig, brokerYaml(ports, { demo: token, egress: secrets.brokerToken })),
      replaceFile(sandboxMerchants, merchantsJson(publicJwk)),
    ]);
    return { token, brokerConfig, sandboxMerchants, egress };
  } catch (error) {
    throw new BrokerError('key_file_invalid', {
      detail: `${folder} cannot be used for the demo's files; remove it and start again`,
      cause: error,
    });
  }
}

function brokerYaml(ports: DemoPorts, tokens: { readonly demo: string; readonly egress: string }): string {
  return `# Written by npm start, anew each time: a copy of it is a start for a configuration of your own.
http: { host: ${demoHost}, port: ${ports.broker} }
management: { host: ${demoHost}, port: ${ports.management} }
store: { type: memory }
audit: { destination: none }
auth:
  tokens:
    - { caller: demo, sha256: "${sha256Of(tokens.demo)}" }
    - { caller: egress, sha256: "${sha256Of(tokens.egress)}" }
  policies:
    - { caller: demo, merchants: [shop], allow: [session:read, session:reject, session:renew, payload:encrypt, payload:decrypt] }
    - { caller: egress, merchants: [shop], allow: [session:read, session:reject, payload:decrypt] }
merchants:
  - id: shop
    serviceCode: ${DEMO_SERVICE_CODE}
    clientKeyFiles: [client.jwk.json]
    gateway: { baseUrl: "http://${demoHost}:${ports.sandbox}", environment: test, timeout: 3s }
    session: { renewBefore: 20%, safetyMargin: 5%, fallbackLifetime: 1m, foreignAuthorizerPause: 10s, budget: [{ calls: 200, per: 10m }] }
`;
}

function merchantsJson(publicJwk: Record<string, string>): string {
  const lifetimeMs = SESSION_LIFETIME_MS;
  const merchant = { id: 'shop', serviceCode: DEMO_SERVICE_CODE, publicJwk, lifetimeMs, supersedes: true };
  return `${JSON.stringify([merchant], null, 2)}\n`;
}
