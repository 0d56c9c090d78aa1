import { RunningBroker, TOKENS } from '../e2e/running-broker.js';
import { RunningEgress } from './running-egress.js';

/** No session ends by itself while a test runs. */
const MERCHANT = { lifetimeMs: 3_600_000, supersedes: true, merchantId: 'terminal-1' };
const SESSION = '{ handover: 0s, budget: [{ calls: 1000, per: 10m }] }';

/** A sandbox, a real broker and an egress in front of them, in this process. */
export class EgressStage {
  private constructor(
    private readonly broker: RunningBroker,
    readonly egress: RunningEgress,
  ) {}

  /** @param sandbox its settings */
  static async start(sandbox: object = {}): Promise<EgressStage> {
    const own = { merchant: MERCHANT, sandbox, gateway: 'supersedes: true,', session: SESSION };
    const broker = await RunningBroker.start(own);
    const access = { url: broker.url, token: TOKENS.payments };
    return new EgressStage(broker, await RunningEgress.start({ broker: access, gatewayUrl: broker.sandboxUrl }));
  }

  get sandboxUrl(): string {
    return this.broker.sandboxUrl;
  }

  async close(): Promise<void> {
    await this.egress.close();
    await this.broker.close();
  }

  control(method: string, path: string, body?: object): Promise<unknown> {
    return this.broker.control(method, path, body);
  }

  /** Create calls that the bank has received. */
  async createCalls(): Promise<number> {
    return ((await this.control('GET', '/calls?operation=authorize&merchant=shop')) as { matching: number }).matching;
  }
}
