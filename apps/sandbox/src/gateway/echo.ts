import { jsonAnswer } from '../wire/answer.js';
import { demandApiVersion, type GatewayOperation } from './operation.js';
import { callerOf, demandSession, merchantOf, namedSession, type SessionParts } from './presented-session.js';
import { openSealed, sealFor } from './sealing.js';

/**
 * Stands for all later requests that are not payments: takes a payload encrypted to the session's server key, and
 * returns the same octets encrypted to the client's key.
 */
export function echoOperation(parts: SessionParts): GatewayOperation {
  return {
    name: 'echo',
    path: '/api-gateway/echo',
    identify: (request) => callerOf(parts, namedSession(parts, request)),
    carryOut(request, { record, trouble }) {
      demandApiVersion(request);
      const session = demandSession(parts, request);
      record.session = session.id;
      const plaintext = openSealed(request.body, session.serverKey);
      return jsonAnswer({ jwe: sealFor(merchantOf(parts, session).publicJwk, plaintext, trouble) });
    },
  };
}
