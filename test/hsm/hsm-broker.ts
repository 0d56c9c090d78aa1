import { fail } from 'node:assert/strict';
import { importPaymentKey, sealJwe } from '#libs/jwe';
import type { ProgramProcess } from '../e2e/program-process.js';
import { WatchedReplicas } from '../observability/watched-replicas.js';

interface SetUp {
  readonly privateJwk: Readonly<Record<string, string>>;
  /** The content of the merchant's key file. */
  readonly keyFile: string;
  /** The module that it names, if any. */
  readonly module?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly lifetimeMs?: number;
}

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A broker as a process, with the merchant `shop`, whose client key may be in a token. */
export function startHsmBroker({ keyFile, module, environment = {}, ...own }: SetUp): Promise<WatchedReplicas> {
  const shop = { id: 'shop', lifetimeMs: 60_000, timeout: '1s', required: true, keyFiles: [keyFile], ...own };
  const sections = { pkcs11: { modules: module === undefined ? [] : [module] } };
  return WatchedReplicas.alone([shop], { environment, sections });
}

export async function endHsmBroker(broker: WatchedReplicas): Promise<void> {
  processOf(broker).signal('SIGTERM');
  await processOf(broker).ended;
  await broker.stop();
}

export const processOf = ({ replicas }: WatchedReplicas): ProgramProcess =>
  (replicas[0] ?? fail('it has not been started')).process;

export const sessionOf = async (broker: WatchedReplicas): Promise<Answer> =>
  answerOf(await broker.ask('shop', '/session', {}));

/** What the gateway seals to the merchant, opened by the broker. */
export async function decrypt(broker: WatchedReplicas, plaintext: string): Promise<Answer> {
  const { d: _private, ...publicJwk } = broker.privateJwks[0] ?? fail('there is no key');
  const jwe = await sealJwe(Buffer.from(plaintext), await importPaymentKey(publicJwk));
  return answerOf(await broker.ask('shop', '/payloads/decrypt', { method: 'POST', body: JSON.stringify({ jwe }) }));
}

async function answerOf(response: Response): Promise<Answer> {
  const body = (await response.json()) as Answer['body'];
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body };
}
