import { setTimeout as pause } from 'node:timers/promises';
import type { Fleet } from './fleet.js';
import type { Served, ServingRecord } from './serving-record.js';

const READ_EVERY_MS = 5;
/** The gateway remembers its last 10 000 calls: those that are presented must not crowd out the create calls. */
const PRESENT_EVERY_MS = 20;

export interface ConsumerOptions {
  readonly fleet: Fleet;
  readonly record: ServingRecord;
  readonly gatewayUrl: string;
}

/** One consumer per replica: reads its session every few milliseconds and presents it to the gateway. */
export class Consumers {
  readonly #options: ConsumerOptions;
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
  }

  #run(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  async #consume(replica: number): Promise<void> {
    const { fleet, record } = this.#options;
    let presentFromMs = 0;
    while (!this.#isOver && fleet.inService.includes(replica)) {
      // What is served was so at some time after it was asked for.
      const atMs = Date.now();
      const served = await fleet.served(replica);
      record.note(replica, served, atMs);
      if (served !== undefined && atMs >= presentFromMs) {
        presentFromMs = atMs + PRESENT_EVERY_MS;
        this.#run(this.#present(served));
      }
      await pause(READ_EVERY_MS);
    }
    record.gone(replica);
  }

  /** The gateway checks the session before it looks at the payload: an empty payload is refused for another reason. */
  async #present({ deviceId, refreshToken = '' }: Served): Promise<void> {
    const { record, gatewayUrl } = this.#options;
    record.presented += 1;
    const headers = {
      'x-api_version': '1',
      'x-device_id': deviceId,
      'x-refresh_token': refreshToken,
      'content-type': 'text/plain',
    };
    const body = 'a payload of no importance';
    const answer = await fetch(`${gatewayUrl}/api-gateway/echo`, { method: 'POST', headers, body });
    const text = await answer.text();
    if (answer.status === 401 || text.includes('b_session_doesnt_exist')) record.refused += 1;
  }
}
