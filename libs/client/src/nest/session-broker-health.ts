import { orAborted, within } from '../deadline.js';
import { SessionBrokerError } from '../errors.js';
import type { SessionBroker } from '../session-broker.js';
import type { Session } from '../session.js';
import { systemTime } from '../time.js';

/** In the form that `@nestjs/terminus` expects. No member is a secret. */
export type SessionBrokerHealthResult = Record<
  string,
  { status: 'up' | 'down'; generation?: number; expiresAt?: string; code?: string; message?: string }
>;

/** Probes give up after a second or so; a session in memory is reported at once. */
const MAX_LOOK_MS = 1_000;

/** Health indicator for `@nestjs/terminus`: whether there is a session that is valid now. */
export class SessionBrokerHealth {
  readonly #broker: SessionBroker;

  constructor(broker: SessionBroker) {
    this.#broker = broker;
  }

  /** For Terminus 11 and later: "down" is a result, never an exception. */
  async isHealthy(key = 'session'): Promise<SessionBrokerHealthResult> {
    try {
      const { generation, expiresAt } = this.#broker.current() ?? (await this.#firstLook());
      return { [key]: { status: 'up', generation, expiresAt } };
    } catch (error) {
      if (!(error instanceof SessionBrokerError)) throw error;
      const { code, message } = error;
      return { [key]: { status: 'down', code, message } };
    }
  }

  /** For Terminus 10, which treats any result as healthy. @throws an error that it recognizes as a failed check */
  async demandHealthy(key = 'session'): Promise<SessionBrokerHealthResult> {
    const result = await this.isHealthy(key);
    if (result[key]?.status === 'up') return result;
    throw Object.assign(new Error(result[key]?.message), { isHealthCheckError: true, causes: result });
  }

  /** Also makes a service that has not asked for a session yet start following the broker. */
  #firstLook(): Promise<Session> {
    return within(systemTime, { ms: MAX_LOOK_MS, parents: [], background: true }, async ({ signal }) => {
      try {
        return await orAborted(this.#broker.session({ signal }), signal);
      } catch (error) {
        // "The time is up" is less useful than what went wrong before.
        throw error === signal.reason ? (this.#broker.lastFailure() ?? error) : error;
      }
    });
  }
}
