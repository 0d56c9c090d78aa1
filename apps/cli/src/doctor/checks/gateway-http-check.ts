import { type Check, fact, looked } from '../check.js';
import { asFault } from '../gateway-fault.js';
import type { GatewayVisit } from '../gateway-visit.js';
import { GRACE_MS } from './gateway-tcp-check.js';

/** Whether HTTP comes through, by a GET that creates nothing: whatever the status, an answer is an answer. */
export function gatewayHttpCheck(visit: GatewayVisit): Check {
  const { subject, gateway, tools } = visit;
  return {
    name: 'gateway.http',
    subject,
    needs: ['gateway.tcp', 'gateway.tls'],
    limitMs: gateway.timeoutMs + GRACE_MS,
    run: (signal) =>
      asFault(async () => {
        const askedAtMs = tools.clock.monotonicMs();
        const { httpStatus } = await visit.answer(signal);
        const tookMs = Math.round(tools.clock.monotonicMs() - askedAtMs);
        return looked([fact(`GET of baseUrl is answered ${httpStatus} after ${tookMs} ms`)], { httpStatus, tookMs });
      }, 'see whether baseUrl, and the proxy if there is one, lead to the gateway'),
  };
}
