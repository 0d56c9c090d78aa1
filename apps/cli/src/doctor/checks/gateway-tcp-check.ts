import { reach } from '#libs/gateway';
import type { GatewayFailure } from '#libs/session';
import { type Check, fact, looked } from '../check.js';
import { asFault } from '../gateway-fault.js';
import type { GatewayVisit } from '../gateway-visit.js';

/** Added to a call's own time limit, because the error of the call says more than ours. */
export const GRACE_MS = 1_000;

/** Whether a connection can be made at all. */
export function gatewayTcpCheck({ entry, subject, gateway: { timeoutMs }, tools }: GatewayVisit): Check {
  return {
    name: 'gateway.tcp',
    subject,
    needs: ['gateway.dns'],
    limitMs: timeoutMs + GRACE_MS,
    run: (signal) =>
      asFault(async () => {
        await reach(entry, { clock: tools.clock, signal, timeoutMs });
        return looked([fact(`port ${entry.port} of the ${entry.via} takes connections`)]);
      }, remedyOf),
  };
}

/** If something refused the connection, the way there is open. */
function remedyOf({ trace }: GatewayFailure): string {
  return trace?.mark === 'ECONNREFUSED'
    ? 'see whether the gateway runs there, and whether baseUrl names its port; some firewalls refuse in its place'
    : 'see whether firewalls and network policies let this machine out to it';
}
