import { HostileGateway } from './hostile-gateway.js';
import { PlayedBroker } from './played-broker.js';
import { type EgressSetUp, RunningEgress } from './running-egress.js';

/** An egress between a fake broker and a scripted gateway, in this process. */
export class PlayedStage {
  readonly broker: PlayedBroker;
  readonly gateway: HostileGateway;
  readonly egress: RunningEgress;

  private constructor(parts: Pick<PlayedStage, 'broker' | 'gateway' | 'egress'>) {
    this.broker = parts.broker;
    this.gateway = parts.gateway;
    this.egress = parts.egress;
  }

  static async start(setUp: Omit<Partial<EgressSetUp>, 'broker' | 'gatewayUrl'> = {}): Promise<PlayedStage> {
    const broker = await PlayedBroker.start();
    const gateway = await HostileGateway.before(broker);
    const egress = await RunningEgress.start({ broker, gatewayUrl: gateway.url, ...setUp });
    return new PlayedStage({ broker, gateway, egress });
  }

  async close(): Promise<void> {
    await this.egress.close();
    await this.gateway.close();
    await this.broker.close();
  }
}
