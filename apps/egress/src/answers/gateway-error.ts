import { type BrokerError, errorCodes } from '#libs/errors';

/** A refusal in the words that clients of the gateway know. */
export interface GatewayError {
  readonly status: number;
  readonly msgCode: string;
  readonly msgType: 'ERROR' | 'VALIDATION_ERROR';
  /** Constant and public: whatever a caller sent is not in it. */
  readonly msgText: string;
}

export interface WrittenError {
  readonly status: number;
  readonly body: string;
}

/** Who refused: the gateway names a service of its own here. */
export const SERVICE = 'session-egress';

/** With this one a client creates another session by itself, which is all that helps. */
const UNKNOWN_SESSION = 'b_session_doesnt_exist';

/** Writes a refusal as the gateway does (interface description, section "Errors"). */
export function writeGatewayError(error: GatewayError, requestId: string): WrittenError {
  const { status, msgCode, msgType, msgText } = error;
  const members = { msgCode, msgType, msgText, isLocalized: false, msgAttrs: {}, errorCauses: [] };
  return { status, body: JSON.stringify({ requestId, serviceId: SERVICE, ...members }) };
}

/**
 * A failure of ours for a client that knows the gateway's form only. Its code is ours, but for a session that nobody was
 * given, or that has been ended: that has the gateway's own code.
 */
export function gatewayErrorOf({ code }: BrokerError, requestId: string): WrittenError {
  const { status, title: msgText } = errorCodes[code];
  const msgCode = code === 'unauthenticated' ? UNKNOWN_SESSION : code;
  return writeGatewayError({ status, msgCode, msgType: 'ERROR', msgText }, requestId);
}
