import { lookUp } from '#libs/gateway';
import { type Check, fact, looked, some } from '../check.js';
import { asFault } from '../gateway-fault.js';
import type { GatewayVisit } from '../gateway-visit.js';

/** Whether the host name of the gateway, or of the proxy in front of it, has an address. */
export function gatewayDnsCheck({ entry, subject, gateway }: GatewayVisit): Check {
  return {
    name: 'gateway.dns',
    subject,
    needs: ['configuration'],
    limitMs: gateway.timeoutMs,
    run: () =>
      asFault(
        async () => looked([fact(`the ${entry.via} ${entry.host} is at ${some(await lookUp(entry))}`)]),
        'compare the host with what the bank has told, and see which name server this machine asks',
      ),
  };
}
