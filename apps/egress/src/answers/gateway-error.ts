import { type BrokerError, errorCodes } from '#libs/errors';

/** A refusal in the form that the gateway's clients know. */
export interface GatewayError {
  readonly status: number;
  readonly msgCode: string;
  readonly msgType: 'ERROR' | 'VALIDATION_ERROR';
  /** Constant and public: contains nothing that a caller sent. */
  readonly msgText: string;
}

export interface WrittenError {
  readonly status: number;
  readonly body: string;
}

/** Who refused: the gateway names one of its own services here. */
export const SERVICE = 'session-egress';

/** The one code at which every published client that creates sessions by itself creates another, which is the only remedy. */
const UNKNOWN_SESSION = 'b_used_token';

/** Writes a refusal as the gateway does (interface description, section "Errors"). */
export function writeGatewayError({ status, ...error }: GatewayError, requestId: string): WrittenError {
  return { status, body: JSON.stringify(membersOf(error, requestId)) };
}

/**
 * A failure of ours for a client that only knows the gateway's form. It has our code, except for a session that was
 * never issued or has been ended: that gets the gateway's own code.
 */
export function gatewayErrorOf({ code, publicDetail }: BrokerError, requestId: string): object {
  const { title } = errorCodes[code];
  const msgCode = code === 'unauthenticated' ? UNKNOWN_SESSION : code;
  const msgText = publicDetail === undefined ? title : `${title}: ${publicDetail}`;
  return membersOf({ msgCode, msgType: 'ERROR', msgText }, requestId);
}

function membersOf({ msgCode, msgType, msgText }: Omit<GatewayError, 'status'>, requestId: string): object {
  const rest = { isLocalized: false, msgAttrs: {}, errorCauses: [] };
  return { requestId, serviceId: SERVICE, msgCode, msgType, msgText, ...rest };
}
