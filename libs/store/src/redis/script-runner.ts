import { Redis } from 'ioredis';
import { type RedisVerdict, storeFailure } from './redis-failure.js';
import { type RedisClient, type RedisScript, runScript, type ScriptCall } from './redis-script.js';

interface ScriptRunnerOptions {
  readonly client: RedisClient;
  readonly judge: (error: unknown) => RedisVerdict;
  readonly onFailure: () => void;
}

/** Runs the operations of the store, and turns failures of Redis into the errors of the port. */
export class ScriptRunner {
  readonly #options: ScriptRunnerOptions;

  constructor(options: ScriptRunnerOptions) {
    this.#options = options;
  }

  /**
   * @throws BrokerError `store_refused` for an error reply, `store_unavailable` if there was none: the script may have
   * run in that case
   */
  run(script: RedisScript, call: ScriptCall): Promise<unknown> {
    return this.#ask(script.name, () => runScript(this.#options.client, script, call));
  }

  /**
   * @returns the number of subscribers; undefined on a cluster, whose nodes know only their own subscribers
   * @throws as `run`
   */
  publish(channel: string, message: string): Promise<number | undefined> {
    const { client } = this.#options;
    return this.#ask('announce', async () => {
      const listeners = await client.publish(channel, message);
      return client instanceof Redis ? listeners : undefined;
    });
  }

  async #ask<Answer>(operation: string, ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask();
    } catch (error) {
      this.#options.onFailure();
      throw storeFailure(operation, this.#options.judge(error));
    }
  }
}
