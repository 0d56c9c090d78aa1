import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RunningBroker, SERVICE_CODE, TOKENS } from '../../e2e/running-broker.js';
import { RunningEgress } from '../../egress/running-egress.js';

/** A broker, an egress and a simulated gateway that stay up while others write to their ports. */
export interface HttpStage {
  readonly ports: Readonly<Record<'api' | 'management' | 'egress' | 'egressManagement', number>>;
  readonly clientToken: string;
  /** What no caller is ever told, and no log ever contains. */
  readonly secrets: readonly string[];
  /** Log lines since the last call. */
  readonly takeLines: () => readonly string[];
  readonly close: () => Promise<void>;
}

const portOf = (url: string): number => Number(new URL(url).port);

export async function startStage(): Promise<HttpStage> {
  const broker = await RunningBroker.start({ http: 'rateLimit: { perSecond: 1000000, burst: 1000000 }' });
  const egress = await RunningEgress.start({
    broker: { url: broker.url, token: TOKENS.payments },
    gatewayUrl: broker.sandboxUrl,
  });
  const keys = await Promise.all(
    ['shop', 'shop-older', 'hidden'].map(async (name) => {
      const { d } = JSON.parse(await readFile(join(broker.folder, `${name}.jwk.json`), 'utf8')) as { d: string };
      return d;
    }),
  );
  const clientToken = egress.client().token;
  return {
    ports: {
      api: portOf(broker.url),
      management: portOf(broker.managementUrl),
      egress: portOf(egress.url),
      egressManagement: portOf(egress.managementUrl),
    },
    clientToken,
    secrets: [...keys, SERVICE_CODE, ...Object.values(TOKENS), clientToken],
    takeLines: () => [...broker.lines.splice(0), ...egress.lines.splice(0)],
    close: async () => {
      await egress.close();
      await broker.close();
    },
  };
}
