import { deadSessionCode } from '#libs/client';
import type { GatewayAnswer } from '../gateway/gateway-exchange.js';
import { jsonObjectIn } from './json-object.js';

/** Why the gateway refused a session: by a code of its own, or by the bare status, which says less. */
export interface Death {
  readonly code: string;
  /** The closed list of codes alone says that nothing was carried out, so that the request may be sent again. */
  readonly mayRepeat: boolean;
}

const UNAUTHORIZED = 401;
const MARK = Buffer.from('msgCode');

/**
 * Whether the gateway refused the session, whatever the status (interface description, "Later requests"). Only the code of
 * the answer itself counts: one that stands further down was said of something else, and the request was carried out.
 * @param answer an error of the gateway is short, so that one which is not whole is none
 */
export async function deathIn(answer: GatewayAnswer): Promise<Death | undefined> {
  if (answer.kind !== 'whole') return undefined;
  const document = answer.bytes.includes(MARK) ? jsonObjectIn(answer.bytes) : undefined;
  const msgCode = document?.['msgCode'];
  if (typeof msgCode === 'string' && typeof document?.['jwe'] !== 'string') {
    const code = await deadSessionCode({ msgCode });
    return code === undefined ? undefined : { code, mayRepeat: true };
  }
  return answer.status === UNAUTHORIZED ? { code: 'http_401', mayRepeat: false } : undefined;
}
