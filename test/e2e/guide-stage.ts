import { RunningBroker, TOKENS } from './running-broker.js';
import type { GuidePrograms } from './guide-programs.js';

type Environment = Readonly<Record<string, string>>;

/** A broker with a session that ends only when it is told to, and the guides' way to a payment through it. */
export class GuideStage {
  readonly env: Environment;

  private constructor(
    readonly broker: RunningBroker,
    private readonly programs: GuidePrograms,
  ) {
    const places = { BROKER_URL: broker.url, GATEWAY_URL: broker.sandboxUrl };
    this.env = { ...places, BROKER_TOKEN: TOKENS.payments, MERCHANT_ID: 'terminal-1' };
  }

  static async start(programs: GuidePrograms): Promise<GuideStage> {
    const merchant = { supersedes: true, lifetimeMs: 3_600_000 };
    const broker = await RunningBroker.start({ merchant, timeout: '60s' });
    await broker.get('/v1/merchants/shop/session', { prefer: 'wait=60' });
    return new GuideStage(broker, programs);
  }

  /** What the hosted page's program orders. @returns the id that the bank has given it */
  async newOrder(more: Environment = {}): Promise<string> {
    const printed = await this.programs.output('hosted-page', 'ts', { ...this.env, ...more });
    expect(printed).toMatch(/^send the customer to http\S+\norder \S+ is CREATED with 0 operations\n$/);
    return /order (\S+) is/.exec(printed)?.[1] ?? '';
  }

  /** An order that the customer has paid. */
  async paid(more: Environment = {}): Promise<Readonly<Record<'operationId' | 'ecomOperationId', string>>> {
    const path = `/orders/${await this.newOrder(more)}/pay`;
    return (await this.broker.control('POST', path, {})) as Record<'operationId' | 'ecomOperationId', string>;
  }

  endSession(): Promise<unknown> {
    return this.broker.control('DELETE', '/sessions?merchant=shop&msgCode=b_session_doesnt_exist');
  }
}
