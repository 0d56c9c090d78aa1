import { type Failed, seemsMisaddressed, toldCall } from '#libs/causes';
import { createSessionAddress, type GatewayPlace } from '#libs/gateway';
import type { GatewayFailure } from '#libs/session';

/** What happened, in the words of the status page, with the ids by which the bank can find the call. */
export function describeFailure(failure: GatewayFailure): string {
  const { detail, httpStatus, requestId } = failure;
  const cause = toldCall(failedOf(failure)).text;
  const status = httpStatus === undefined ? '' : `HTTP ${httpStatus}`;
  const marks = [
    ...(status === '' || cause.includes(`(${status}`) ? [] : [status]),
    ...(requestId === undefined ? [] : [`request ${requestId}`]),
  ];
  const what = detail === undefined || isTold(failure) ? '' : `; ${detail}`;
  return `${cause}${what}${marks.length === 0 ? '' : ` [${marks.join(', ')}]`}`;
}

/** What to do about it, in the words that everybody is told. */
export const remedyFor = (failure: GatewayFailure): string => toldCall(failedOf(failure)).remedy;

/** What to do if something other than the operation answered, or may have; undefined for every other failure. */
export function addressRemedy(failure: GatewayFailure, gateway: Pick<GatewayPlace, 'baseUrl'>): string | undefined {
  if (failure.instead === 'html_page' && failure.kind === 'refused') {
    return remedyFor(failure);
  }
  const isOther = isWithoutCode(failure);
  if (!seemsMisaddressed(failedOf(failure)) && failure.instead === undefined && !isOther) return undefined;
  const doubt = isOther ? 'what answers does not look like the gateway, which says why by a code of its own: ' : '';
  return `${doubt}compare gateway.baseUrl with the address that the bank has given: this call went to ${createSessionAddress(gateway).href}`;
}

/** Marks a service that asks for credentials: the gateway never does, and refuses with a code of its own. */
const ASKS_FOR_CREDENTIALS: readonly (number | undefined)[] = [401, 403, 407];

function isWithoutCode({ httpStatus, shownCode }: GatewayFailure): boolean {
  return shownCode === undefined && ASKS_FOR_CREDENTIALS.includes(httpStatus);
}

function failedOf({ kind, shownCode, trace }: GatewayFailure): Failed {
  return {
    kind,
    ...(shownCode === undefined ? {} : { msgCode: shownCode }),
    ...(trace === undefined ? {} : { trace }),
  };
}

/** Whether the cause alone says all that is known. */
function isTold(failure: GatewayFailure): boolean {
  const { msgCode, trace } = failure;
  const isKnown = msgCode !== undefined || trace?.mark !== undefined || trace?.thumbprint !== undefined;
  return isKnown || failure.instead !== undefined || seemsMisaddressed(failedOf(failure));
}
