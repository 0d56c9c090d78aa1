import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BrokerError } from '#libs/errors';
import { generateClientKey } from '#libs/jwe';
import { bankForm, readKeyFile } from '../key-file.js';
import { demoHost, type DemoPorts } from './demo-ports.js';
import { systemCodeOf } from '../system-error.js';

/** The service code of the interface description's own example. */
const DEMO_SERVICE_CODE = '137d9304-0368-11ed-b939-0242ac120002';
const SESSION_LIFETIME_MS = 60_000;
const TOKEN_FORM = /^demo-[\w-]{32}$/;

export interface DemoFiles {
  readonly token: string;
  readonly brokerConfig: string;
  readonly sandboxMerchants: string;
}

/**
 * What the demo needs, in a folder that nobody else may read. Key and token stay from one start to the next, unless they
 * are damaged; the configuration is written anew. Its files carry the port in their name, so that two demos can run.
 * @throws BrokerError `key_file_invalid` when the folder cannot be used
 */
export async function prepareDemoFiles(folder: string, ports: DemoPorts): Promise<DemoFiles> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    const [publicJwk, token] = await Promise.all([
      keepKey(join(folder, 'client.jwk.json')),
      keepToken(join(folder, 'token')),
    ]);
    const brokerConfig = join(folder, `broker-${ports.broker}.yaml`);
    const sandboxMerchants = join(folder, `sandbox-${ports.sandbox}.json`);
    await Promise.all([
      replaceFile(brokerConfig, brokerYaml(ports, token)),
      replaceFile(sandboxMerchants, merchantsJson(publicJwk)),
    ]);
    return { token, brokerConfig, sandboxMerchants };
  } catch (error) {
    throw new BrokerError('key_file_invalid', {
      detail: `${folder} cannot be used for the demo's files; remove it and start again`,
      cause: error,
    });
  }
}

async function keepKey(path: string): Promise<Record<string, string>> {
  try {
    return bankForm((await readKeyFile(path)).publicJwk);
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    const { privateJwk, publicJwk } = await generateClientKey();
    await replaceFile(path, `${JSON.stringify(privateJwk, null, 2)}\n`);
    return publicJwk;
  }
}

async function keepToken(path: string): Promise<string> {
  const kept = await readKept(path);
  if (TOKEN_FORM.test(kept)) return kept;
  const token = `demo-${randomBytes(24).toString('base64url')}`;
  await replaceFile(path, `${token}\n`);
  return token;
}

async function readKept(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return '';
    throw error;
  }
}

/** Whole or not at all: a start that is killed half-way leaves the file that was there. */
async function replaceFile(path: string, content: string): Promise<void> {
  const draft = `${path}.${process.pid}`;
  await rm(draft, { force: true });
  await writeFile(draft, content, { mode: 0o600, flag: 'wx' });
  await rename(draft, path);
}

function brokerYaml(ports: DemoPorts, token: string): string {
  return `# Written by npm start, anew each time: a copy of it is a start for a configuration of your own.
http: { host: ${demoHost}, port: ${ports.broker} }
management: { host: ${demoHost}, port: ${ports.management} }
store: { type: memory }
audit: { destination: none }
auth:
  tokens:
    - { caller: demo, sha256: "${createHash('sha256').update(token).digest('hex')}" }
  policies:
    - { caller: demo, merchants: [shop], allow: [session:read, session:reject, payload:encrypt, payload:decrypt] }
merchants:
  - id: shop
    serviceCode: ${DEMO_SERVICE_CODE}
    clientKeyFiles: [client.jwk.json]
    gateway: { baseUrl: "http://${demoHost}:${ports.sandbox}", environment: test, timeout: 3s }
    session: { renewBefore: 20%, safetyMargin: 5%, fallbackLifetime: 1m, budget: [{ calls: 20, per: 10m }] }
`;
}

function merchantsJson(publicJwk: Record<string, string>): string {
  const merchant = { id: 'shop', serviceCode: DEMO_SERVICE_CODE, publicJwk, lifetimeMs: SESSION_LIFETIME_MS };
  return `${JSON.stringify([merchant], null, 2)}\n`;
}
