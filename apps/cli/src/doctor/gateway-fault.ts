import { type Cause, causeOf, GatewayFailure } from '#libs/session';
import { exitClassOf } from '../exit-codes.js';
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
    return looked([fault(exitClassOf(error), describeFailure(error), advice)]);
  }
}

/** What happened, in the words of the status page, with the ids by which the bank can find the call. */
export function describeFailure(failure: GatewayFailure): string {
  const { detail, httpStatus, requestId } = failure;
  const marks = [
    ...(httpStatus === undefined ? [] : [`HTTP ${httpStatus}`]),
    ...(requestId === undefined ? [] : [`request ${requestId}`]),
  ];
  const what = detail === undefined || isTold(failure) ? '' : `; ${detail}`;
  return `${causeOfFailure(failure).text}${what}${marks.length === 0 ? '' : ` [${marks.join(', ')}]`}`;
}

export function causeOfFailure({ kind, shownCode, trace }: GatewayFailure): Cause {
  return causeOf({
    kind,
    ...(shownCode === undefined ? {} : { msgCode: shownCode }),
    ...(trace === undefined ? {} : { trace }),
  });
}

/** Whether the cause by itself says all that is known. */
function isTold({ msgCode, trace }: GatewayFailure): boolean {
  return msgCode !== undefined || trace?.mark !== undefined || trace?.thumbprint !== undefined;
}
