import { GatewayFailure } from '#libs/session';
import { gatewayFaultClass } from '../gateway-fault-class.js';
import { describeFailure } from '../gateway-words.js';
import { fault, looked, type Verdict } from './check.js';

/** For when the same words do not suit every failure. */
type WordsOf = (failure: GatewayFailure) => string;

interface Told {
  readonly remedy: string | WordsOf;
  /** What happened, if it was not the gateway that was asked. */
  readonly message?: WordsOf;
}

/**
 * The verdict of `look`. A gateway failure becomes a fault of its class; one that we caused ourselves becomes no
 * verdict.
 */
export async function asFault(look: () => Promise<Verdict>, told: Told['remedy'] | Told): Promise<Verdict> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof GatewayFailure)) throw error;
    if (error.kind === 'aborted') return { kind: 'not_run', reason: 'ended on request' };
    const { remedy, message = describeFailure } = typeof told === 'object' ? told : { remedy: told };
    const advice = typeof remedy === 'string' ? remedy : remedy(error);
    return looked([fault(gatewayFaultClass(error), message(error), advice)]);
  }
}
