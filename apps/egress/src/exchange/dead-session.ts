import { deadSessionCode } from '#libs/client';
import type { GatewayAnswer } from '../gateway/gateway-exchange.js';
import { jsonObjectIn } from './json-object.js';

/** Why the gateway refused a session: by one of its codes, or by the bare status, which says less. */
export interface Death {
  readonly code: string;
  /** Only the closed list of codes means that nothing was carried out, so that the request may be sent again. */
  readonly mayRepeat: boolean;
}

const UNAUTHORIZED = 401;
const MARK = Buffer.from('msgCode');

/**
 * Whether the gateway refused the session, whatever the status (interface description, "Later requests"). Only the code
 * of the answer itself counts: one nested further down refers to something else, and the request was carried out.
 * @param answer the gateway's errors are short, so an answer that is not whole is not an error
 */
export function deathIn(answer: GatewayAnswer): Death | undefined {
  if (answer.kind !== 'whole') return undefined;
  const document = answer.bytes.includes(MARK) ? jsonObjectIn(answer.bytes) : undefined;
  const msgCode = document?.['msgCode'];
  if (typeof msgCode === 'string' && typeof document?.['jwe'] !== 'string') {
    const code = deadSessionCode({ msgCode });
    return code === undefined ? undefined : { code, mayRepeat: true };
  }
  return answer.status === UNAUTHORIZED ? { code: 'http_401', mayRepeat: false } : undefined;
}
