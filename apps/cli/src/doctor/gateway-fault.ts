import { GatewayFailure } from '#libs/session';
import { exitClassOf } from '../exit-codes.js';
import { fault, looked, type Verdict } from './check.js';

/** The verdict of `look`; a failure of the gateway is a fault by its class, and one that we caused is not a verdict. */
export async function asFault(look: () => Promise<Verdict>, remedy: string): Promise<Verdict> {
  try {
    return await look();
  } catch (error) {
    if (!(error instanceof GatewayFailure)) throw error;
    if (error.kind === 'aborted') return { kind: 'not_run', reason: 'ended on request' };
    return looked([fault(exitClassOf(error), describeFailure(error), remedy)]);
  }
}

/** What happened, with the ids by which the bank can find the call. */
export function describeFailure({ detail, code, msgCode, httpStatus, requestId }: GatewayFailure): string {
  const marks = [
    ...(msgCode === undefined ? [] : [msgCode]),
    ...(httpStatus === undefined ? [] : [`HTTP ${httpStatus}`]),
    ...(requestId === undefined ? [] : [`request ${requestId}`]),
  ];
  return `${detail ?? code}${marks.length === 0 ? '' : ` [${marks.join(', ')}]`}`;
}
