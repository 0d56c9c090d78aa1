import { GatewayFailure } from '#libs/session';
import { gatewayFaultClass } from '../gateway-fault-class.js';
import { describeFailure } from '../gateway-words.js';
import { fault, looked, type Verdict } from './check.js';

/** Where the same remedy does not do for every failure. */
type RemedyOf = (failure: GatewayFailure) => string;

/** The verdict of `look`; a failure of the gateway is a fault by its class, and one that we caused is not a verdict. */
export async function asFault(look: () => Promise<Verdict>, remedy: string | RemedyOf): Promise<Verdict> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof GatewayFailure)) throw error;
    if (error.kind === 'aborted') return { kind: 'not_run', reason: 'ended on request' };
    const advice = typeof remedy === 'string' ? remedy : remedy(error);
    return looked([fault(gatewayFaultClass(error), describeFailure(error), advice)]);
  }
}
