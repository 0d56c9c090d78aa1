import { type Check, fact, fault, looked } from '../check.js';
import { asBrokerFault, BROKER_LIMIT_MS, type BrokerVisit, unwished } from './broker-visit.js';

/** Whether the broker is there and recognizes its caller. */
export function brokerAccessCheck(visit: BrokerVisit): Check {
  return {
    name: 'broker.access',
    needs: ['configuration'],
    limitMs: BROKER_LIMIT_MS,
    run: (signal) =>
      asBrokerFault({ visit, signal }, async () => {
        const answer = await visit.ask({ path: '/v1/merchants', signal });
        if (answer.status === 401) {
          const remedy = "compare broker.tokenFile, or broker.tls, with the broker's auth section";
          return looked([fault('refused', 'the broker does not know who the egress is', remedy)]);
        }
        return looked([
          answer.status === 200 && Array.isArray(answer.body['merchants'])
            ? fact(`the broker at ${visit.host} knows the egress`)
            : unwished(answer, `${visit.host} does not answer as a broker`),
        ]);
      }),
  };
}
