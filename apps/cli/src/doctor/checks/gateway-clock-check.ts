import { exceedsTolerance } from '#libs/session';
import { type Check, fact, looked, warning } from '../check.js';
import type { GatewayVisit } from '../gateway-visit.js';

/**
 * Whether the gateway's clock, as its `Date` header shows it, agrees with ours: expiry is judged by the gateway's
 * clock.
 */
export function gatewayClockCheck(visit: GatewayVisit): Check {
  return {
    name: 'gateway.clock',
    subject: visit.subject,
    needs: ['gateway.http'],
    limitMs: visit.gateway.timeoutMs,
    run: async (signal) => {
      const { skew } = await visit.answer(signal);
      if (skew === undefined) return { kind: 'not_run', reason: 'the answer has no Date header' };
      const skewMs = Math.round(skew.likelyMs);
      const off = `${Math.abs(skewMs)} ms ${skewMs > 0 ? 'ahead of' : 'behind'} ours`;
      const finding = exceedsTolerance(skew)
        ? warning(`the gateway's clock is ${off}`, 'see that NTP sets ours; expiry is judged by theirs')
        : fact("the gateway's clock agrees with ours");
      return looked([finding], { skewMs });
    },
  };
}
