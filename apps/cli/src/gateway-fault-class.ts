import { leadsElsewhere } from '#libs/causes';
import type { GatewayFailure } from '#libs/session';
import { type ExitClass, exitClassOf } from './exit-codes.js';

/** The class of fault of a failed call. No number of calls fixes a wrong address, whatever answers there. */
export function gatewayFaultClass(failure: GatewayFailure): ExitClass {
  const { kind, shownCode, trace } = failure;
  const known = {
    ...(shownCode === undefined ? {} : { msgCode: shownCode }),
    ...(trace === undefined ? {} : { trace }),
  };
  return leadsElsewhere({ kind, ...known }) ? 'invalidInput' : exitClassOf(failure);
}
