import type { Server } from 'node:http';
import type { BrokerConfiguration } from '#libs/configuration';
import type { ClientKey } from '#libs/jwe';
import type { SessionReplica } from '#libs/session';
import type { SessionWatchers } from '../events/session-watchers.js';
import { endConnections } from '#libs/edge';
import type { ServerCertificate } from '../http/server-certificate.js';
import { calledOtherwise, type ConfigurationChange, changeBetween } from './configuration-change.js';
import type { ConfigurationInForce } from '../configuration/configuration-in-force.js';
import { authoritiesShrank } from '../auth/authorities-shrank.js';
import type { RetiredKeys } from '../renewal/retired-keys.js';

interface ChangeOverParts {
  readonly configuration: ConfigurationInForce;
  readonly retired: RetiredKeys;
  readonly replica: Pick<SessionReplica, 'merchantsChanged'>;
  readonly watchers: Pick<SessionWatchers, 'endLost'>;
  readonly server: Server;
  readonly certificate: ServerCertificate;
  readonly setLogLevel: (level: BrokerConfiguration['log']['level']) => void;
}

/** Allows for the time from the gateway's answer to the end of the last attempt to publish its content. */
const GRACE_BEYOND_TIMEOUT_MS = 10_000;

/** Puts a configuration in force, with everything that follows from the difference. */
export class ChangeOver {
  readonly #parts: ChangeOverParts;

  constructor(parts: ChangeOverParts) {
    this.#parts = parts;
  }

  /**
   * All or nothing: if it throws, nothing has happened. Once it returns, the configuration is in force; what the
   * replica does about its merchants continues.
   * @throws whatever is thrown by something that cannot be made from the configuration, such as a TLS context
   */
  to(next: BrokerConfiguration): ConfigurationChange {
    const { configuration, replica, watchers, server, certificate, setLogLevel } = this.#parts;
    const before = configuration.current;
    const change = changeBetween(before, next);
    configuration.replace(next);
    this.#retireKeys(before, next);
    certificate.present();
    setLogLevel(next.log.level);
    watchers.endLost();
    if (authoritiesShrank(before, next)) endConnections(server);
    const { added, removed } = change;
    void replica.merchantsChanged({ added, removed, changed: calledOtherwise(before, next) });
    return change;
  }

  #retireKeys(before: BrokerConfiguration, next: BrokerConfiguration): void {
    const keys = new Map(next.merchants.map(({ id, clientKeys }) => [id, clientKeys]));
    for (const { id, clientKeys, gateway } of before.merchants) {
      const gone = clientKeys.filter((key) => !isAmong(key, keys.get(id) ?? []));
      if (gone.length > 0) this.#parts.retired.retire(id, gone, gateway.timeoutMs + GRACE_BEYOND_TIMEOUT_MS);
    }
  }
}

function isAmong({ thumbprint }: ClientKey, keys: readonly ClientKey[]): boolean {
  return keys.some((key) => key.thumbprint === thumbprint);
}
