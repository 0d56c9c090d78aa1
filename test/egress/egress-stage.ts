import { sealCompact } from '../../apps/sandbox/src/crypto/compact-jwe.js';
import { readPublicKey } from '../../apps/sandbox/src/crypto/ec-key.js';
import { RunningBroker, TOKENS } from '../e2e/running-broker.js';
import type { Ledgered } from '../sandbox/payment-desk.js';
import { type EgressSetUp, RunningEgress } from './running-egress.js';

/** No session ends by itself while a test runs. */
const MERCHANT = { lifetimeMs: 3_600_000, supersedes: true, merchantId: 'terminal-1' };
const SESSION = '{ handover: 0s, budget: [{ calls: 1000, per: 10m }] }';

/** A sandbox and a real broker in this process, with as many egresses in front of them as the test wants. */
export class EgressStage {
  readonly egresses: RunningEgress[] = [];

  private constructor(private readonly broker: RunningBroker) {}

  /** @param sandbox its settings */
  static async start(sandbox: object = {}): Promise<EgressStage> {
    const own = { merchant: MERCHANT, sandbox, gateway: 'supersedes: true,', session: SESSION };
    return new EgressStage(await RunningBroker.start(own));
  }

  get sandboxUrl(): string {
    return this.broker.sandboxUrl;
  }

  async close(): Promise<void> {
    for (const egress of this.egresses.splice(0)) await egress.close();
    await this.broker.close();
  }

  async egress(setUp: Partial<EgressSetUp> = {}): Promise<RunningEgress> {
    const broker = { url: this.broker.url, token: TOKENS.payments };
    const egress = await RunningEgress.start({ broker, gatewayUrl: this.sandboxUrl, ...setUp });
    this.egresses.push(egress);
    return egress;
  }

  control(method: string, path: string, body?: object): Promise<unknown> {
    return this.broker.control(method, path, body);
  }

  /** Create calls that the bank has received. */
  async createCalls(): Promise<number> {
    return ((await this.control('GET', '/calls?operation=authorize&merchant=shop')) as { matching: number }).matching;
  }

  async ledger(): Promise<Ledgered> {
    return (await (await fetch(`${this.sandboxUrl}/_sandbox/ledger`)).json()) as Ledgered;
  }

  /** A card number, sealed to the bank's key for card data. */
  async sealedCard(number = '4111111111111111'): Promise<string> {
    const response = await fetch(`${this.sandboxUrl}/_sandbox/payment-key`);
    return sealCompact(number, readPublicKey(((await response.json()) as { readonly jwk: unknown }).jwk));
  }
}
