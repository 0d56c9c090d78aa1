import { type GatewayFailure, leadsElsewhere } from '#libs/session';
import { type ExitClass, exitClassOf } from './exit-codes.js';

/** What kind of fault a failed call is. A wrong address mends itself by no number of calls, whatever stands there answers. */
export function gatewayFaultClass(failure: GatewayFailure): ExitClass {
  const { kind, shownCode, trace } = failure;
  const known = {
    ...(shownCode === undefined ? {} : { msgCode: shownCode }),
    ...(trace === undefined ? {} : { trace }),
  };
  return leadsElsewhere({ kind, ...known }) ? 'invalidInput' : exitClassOf(failure);
}
