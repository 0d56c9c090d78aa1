import { toRfc3339 } from '#libs/clock';
import { loadConfiguration, type MerchantConfiguration } from '#libs/configuration';
import { GatewayConnections, type MerchantGateway, UndiciSessionGateway } from '#libs/gateway';
import { thumbprintOf } from '#libs/jwe';
import { GatewayFailure, type IssuedSession } from '#libs/session';
import { chosenMerchant, demandConsent, MAY_END_ANOTHER } from '../chosen-merchant.js';
import { exitCodes } from '../exit-codes.js';
import { gatewayFaultClass } from '../gateway-fault-class.js';
import { addressRemedy, describeFailure } from '../gateway-words.js';
import { gatewaySettingsOf } from '../merchant-gateway.js';
import type { Report } from '../report.js';
import type { CommandContext } from '../terminal.js';

export interface SessionCreateOptions {
  readonly config: string;
  readonly merchant: string;
  readonly showSecrets?: true;
  readonly yes?: true;
}

/**
 * Makes exactly one create-session call, as the broker would, and keeps nothing of the result. If the call fails, the
 * report says how.
 * @throws ConfigurationError, BrokerError `merchant_not_found` or `invalid_request` before any call is made
 */
export async function sessionCreate(options: SessionCreateOptions, context: CommandContext): Promise<Report> {
  const { merchants } = await loadConfiguration(options.config, context);
  const merchant = chosenMerchant(merchants, options.merchant);
  demandConsent(merchant, options.yes === true);
  try {
    return describe(merchant.id, await createOnce(merchant, context), options.showSecrets === true);
  } catch (error) {
    if (!(error instanceof GatewayFailure)) throw error;
    return failed(error, merchant);
  }
}

/** Includes the bank's own code and request id, which its support asks for. */
function failed(failure: GatewayFailure, { id: merchant, gateway }: MerchantConfiguration): Report {
  const { code, shownCode: msgCode, httpStatus, requestId } = failure;
  const remedy = addressRemedy(failure, gateway);
  const message = `${describeFailure(failure)}${remedy === undefined ? '' : `; ${remedy}`}`;
  return {
    lines: [],
    error: message,
    json: { merchant, error: { code, message, msgCode, httpStatus, requestId } },
    exitCode: exitCodes[gatewayFaultClass(failure)],
  };
}

async function createOnce(merchant: MerchantConfiguration, { clock, signal }: CommandContext): Promise<IssuedSession> {
  const connections = new GatewayConnections(clock);
  try {
    const merchants = (): MerchantGateway => gatewaySettingsOf(merchant);
    const gateway = new UndiciSessionGateway({ merchants, connections, clock });
    return await gateway.createSession({ merchant: merchant.id, signal });
  } finally {
    await connections.close();
  }
}

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
