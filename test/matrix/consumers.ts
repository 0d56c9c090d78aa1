import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet } from './fleet.js';
import type { Served, ServingRecord } from './serving-record.js';
import { wallMs } from './wall-clock.js';

const PRESENT_EVERY_MS = 10;

export interface ConsumerOptions {
  readonly fleet: Fleet;
  readonly record: ServingRecord;
  readonly gatewayUrl: string;
}

/** One consumer per replica: reads its session every few milliseconds and presents it to the gateway. */
export class Consumers {
  readonly #options: ConsumerOptions;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #served = new Set<number>();
  readonly #work = new Set<Promise<void>>();
  #isOver = false;

  constructor(options: ConsumerOptions) {
    this.#options = options;
  }

  /** Starts a consumer for every replica in service that does not have one yet. */
  join(): void {
    for (const replica of this.#options.fleet.inService) {
      if (this.#served.has(replica)) continue;
      this.#served.add(replica);
      this.#run(this.#consume(replica));
    }
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#work);
    this.#agent.destroy();
  }

  #run(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  async #consume(replica: number): Promise<void> {
    const { fleet, record } = this.#options;
    let presentFromMs = 0;
    while (!this.#isOver && fleet.inService.includes(replica)) {
      const served = await fleet.served(replica);
      record.note(replica, served, wallMs());
      if (served !== undefined && wallMs() >= presentFromMs) {
        presentFromMs = wallMs() + PRESENT_EVERY_MS;
        this.#run(this.#present(served));
      }
      await pause(fleet.readEveryMs);
    }
    record.gone(replica);
  }

  async #present(served: Served): Promise<void> {
    const { record, gatewayUrl } = this.#options;
    record.presented += 1;
    if (await this.#isDead(gatewayUrl, served)) record.refused += 1;
  }

  /** The gateway checks the session before it looks at the payload: an empty payload is refused for another reason. */
  #isDead(gatewayUrl: string, { deviceId, refreshToken = '' }: Served): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const headers = {
        'x-api_version': '1',
        'x-device_id': deviceId,
        'x-refresh_token': refreshToken,
        'content-type': 'text/plain',
      };
      const call = request(`${gatewayUrl}/api-gateway/echo`, { method: 'POST', agent: this.#agent, headers });
      call.on('error', reject).on('response', (response) => {
        let body = '';
        response.on('data', (part: Buffer) => (body += part.toString()));
        response.on('end', () => resolve(response.statusCode === 401 || body.includes('b_session_doesnt_exist')));
      });
      call.end('a payload of no importance');
    });
  }
}
