import { deadSessionCode } from '#libs/client';
import type { GatewayAnswer } from '../gateway/gateway-exchange.js';
import { jsonObjectOf } from './json-object.js';

/** Why the gateway refused a session: by a code of its own, or by the bare status, which says less. */
export interface Death {
  readonly code: string;
  /** The closed list of codes alone says that nothing was carried out, so that the request may be sent again. */
  readonly mayRepeat: boolean;
}

const UNAUTHORIZED = 401;
const MARK = Buffer.from('msgCode');

/**
 * Whether the gateway refused the session, whatever the status (interface description, "Later requests"). Only an error of
 * the gateway's own form says so: a code that lies deeper, or in a text, may be told of by a payment that was carried out.
 * @param answer an error of the gateway is short, so that one which is not whole is none
 */
export async function deathIn(answer: GatewayAnswer): Promise<Death | undefined> {
  if (answer.kind !== 'whole') return undefined;
  const msgCode = answer.bytes.includes(MARK) ? msgCodeOf(answer.bytes) : undefined;
  if (msgCode === undefined) return answer.status === UNAUTHORIZED ? { code: 'http_401', mayRepeat: false } : undefined;
  const code = await deadSessionCode({ msgCode });
  return code === undefined ? undefined : { code, mayRepeat: true };
}

/** Of an error; an answer with a `jwe` is none, whatever else it has. */
function msgCodeOf(bytes: Buffer): string | undefined {
  const document = jsonObjectOf(bytes);
  const msgCode = document?.['jwe'] === undefined ? document?.['msgCode'] : undefined;
  return typeof msgCode === 'string' ? msgCode : undefined;
}
