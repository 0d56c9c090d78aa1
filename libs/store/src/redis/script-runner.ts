import { storeUnavailable } from './redis-failure.js';
import { type RedisClient, type RedisScript, runScript, type ScriptCall } from './redis-script.js';

/** Runs the operations of the store, and turns whatever Redis makes of them into the one error of the port. */
export class ScriptRunner {
  readonly #client: RedisClient;
  readonly #onFailure: (error: unknown) => void;

  constructor(client: RedisClient, onFailure: (error: unknown) => void) {
    this.#client = client;
    this.#onFailure = onFailure;
  }

  /** @throws BrokerError `store_unavailable`; when the reply was lost, the script may have run */
  async run(script: RedisScript, call: ScriptCall): Promise<unknown> {
    try {
      return await runScript(this.#client, script, call);
    } catch (error) {
      this.#onFailure(error);
      throw storeUnavailable(script.name, error);
    }
  }
}
