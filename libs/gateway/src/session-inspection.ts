import { GatewayFailure, type IssuedSession } from '#libs/session';
import { parseJson } from './answer-reader.js';
import { createSessionRequest } from './create-session-request.js';
import { safeMark } from './gateway-answer.js';
import { callGateway, type CallTools } from './gateway-call.js';
import type { MerchantGateway } from './merchant-gateway.js';
import { openAnswer, readOpened } from './undici-session-gateway.js';

/** Which of the two forms of the interface description (section "Session") a session has. */
export type SessionForm = 'full' | 'short' | 'mixed';

/** What one create-session call returned: names and moments, never the value of a field. */
export interface SessionInspection {
  readonly form: SessionForm;
  /** Names of the fields, as received. */
  readonly fields: readonly string[];
  /** How many fields have a name that cannot be shown. */
  readonly unnamed: number;
  /** The session, or why it is not usable although it could be opened. */
  readonly session: IssuedSession | GatewayFailure;
}

/**
 * Makes exactly one create-session call, as the broker would, and looks at the form of the answer.
 * @throws GatewayFailure when there is no answer that can be opened
 */
export async function inspectSession(
  tools: CallTools,
  { gateway, signal }: { readonly gateway: MerchantGateway; readonly signal: AbortSignal },
): Promise<SessionInspection> {
  const request = await createSessionRequest(gateway);
  const answer = await callGateway(tools, { gateway, request, signal });
  const opened = await openAnswer(answer, gateway);
  const given = givenFields(opened.plaintext);
  const fields = given.filter((name) => safeMark(name) !== undefined);
  return {
    form: formOf(fields),
    fields,
    unnamed: given.length - fields.length,
    session: readOrFailure(answer, opened),
  };
}

function givenFields(plaintext: Uint8Array): readonly string[] {
  const value = parseJson(plaintext);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}

function formOf(fields: readonly string[]): SessionForm {
  const has = (...names: readonly string[]): boolean => names.some((name) => fields.includes(name));
  if (has('refreshToken', 'serverPublic') === has('serverPublicKey')) return 'mixed';
  return has('serverPublicKey') ? 'short' : 'full';
}

function readOrFailure(...opened: Parameters<typeof readOpened>): IssuedSession | GatewayFailure {
  try {
    return readOpened(...opened);
  } catch (error) {
    if (error instanceof GatewayFailure) return error;
    throw error;
  }
}
