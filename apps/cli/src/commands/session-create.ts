import { toRfc3339 } from '#libs/clock';
import { loadConfiguration, type MerchantConfiguration } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { GatewayConnections, type MerchantGateway, UndiciSessionGateway } from '#libs/gateway';
import { thumbprintOf } from '#libs/jwe';
import type { IssuedSession } from '#libs/session';
import type { Report } from '../report.js';
import type { CommandContext } from '../terminal.js';

export interface SessionCreateOptions {
  readonly config: string;
  readonly merchant: string;
  readonly showSecrets?: true;
  readonly yes?: true;
}

const MAY_END_ANOTHER = 'a new session can end the one that payments use now (interface description, "no refresh")';

/**
 * Makes exactly one create-session call, as the broker would, and keeps nothing of it.
 * @throws ConfigurationError, BrokerError `merchant_not_found` or `invalid_request` before any call is made
 * @throws GatewayFailure when the call fails
 */
export async function sessionCreate(options: SessionCreateOptions, context: CommandContext): Promise<Report> {
  const { merchants } = await loadConfiguration(options.config, context.environment);
  const merchant = merchants.find(({ id }) => id === options.merchant);
  if (merchant === undefined) {
    const known = merchants.map(({ id }) => id).join(', ');
    throw new BrokerError('merchant_not_found', { detail: `the configuration has: ${known}` });
  }
  if (merchant.gateway.environment === 'production' && options.yes !== true) {
    throw new BrokerError('invalid_request', {
      detail: `${MAY_END_ANOTHER}; repeat with --yes to create one in production`,
    });
  }
  return describe(merchant.id, await createOnce(merchant, context), options.showSecrets === true);
}

async function createOnce(merchant: MerchantConfiguration, { clock, signal }: CommandContext): Promise<IssuedSession> {
  const connections = new GatewayConnections(clock);
  try {
    const merchants = (): MerchantGateway => gatewayOf(merchant);
    const gateway = new UndiciSessionGateway({ merchants, connections, clock });
    return await gateway.createSession({ merchant: merchant.id, signal });
  } finally {
    await connections.close();
  }
}

const gatewayOf = ({ id, serviceCode, clientKeys, gateway }: MerchantConfiguration): MerchantGateway => ({
  merchant: id,
  serviceCode,
  clientKeys,
  ...gateway,
});

function describe(merchant: string, session: IssuedSession, showSecrets: boolean): Report {
  const expiresAt = session.expiresAt === undefined ? undefined : toRfc3339(session.expiresAt);
  const serverKeyThumbprint = thumbprintOf(session.serverPublic);
  const { clientKeyThumbprint, authToken, deviceId, refreshToken } = session;
  const tookMs = session.receivedAt - session.sentAt;
  const secrets = { authToken, deviceId, ...(refreshToken !== undefined && { refreshToken }) };
  return {
    lines: [
      `session      created for ${merchant} in ${Math.round(tookMs)} ms`,
      `expires at   ${expiresAt ?? 'not said by the gateway; the broker would use fallbackLifetime'}`,
      `client key   ${clientKeyThumbprint}`,
      `server key   ${serverKeyThumbprint}`,
      `refreshToken ${refreshToken === undefined ? 'not sent' : 'sent'}`,
      ...(showSecrets ? Object.entries(secrets).map(([name, value]) => `${name.padEnd(12)} ${value}`) : []),
    ],
    json: {
      merchant,
      ...(expiresAt !== undefined && { expiresAt }),
      clientKeyThumbprint,
      serverKeyThumbprint,
      ...(showSecrets && { secrets }),
    },
    warnings: [MAY_END_ANOTHER],
  };
}
