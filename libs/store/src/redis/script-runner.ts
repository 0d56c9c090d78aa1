import { type RedisVerdict, storeFailure } from './redis-failure.js';
import { type RedisClient, type RedisScript, runScript, type ScriptCall } from './redis-script.js';

interface ScriptRunnerOptions {
  readonly client: RedisClient;
  readonly judge: (error: unknown) => RedisVerdict;
  readonly onFailure: () => void;
}

/** Runs the operations of the store, and turns whatever Redis makes of them into the errors of the port. */
export class ScriptRunner {
  readonly #options: ScriptRunnerOptions;

  constructor(options: ScriptRunnerOptions) {
    this.#options = options;
  }

  /**
   * @throws BrokerError `store_refused` for an error reply, `store_unavailable` when there was none: the script may have
   * run then
   */
  async run(script: RedisScript, call: ScriptCall): Promise<unknown> {
    try {
      return await runScript(this.#options.client, script, call);
    } catch (error) {
      this.#options.onFailure();
      throw storeFailure(script.name, this.#options.judge(error));
    }
  }
}
