import { BrokerError } from '#libs/errors';
import { openJwe, type OpenedJwe } from '#libs/jwe';
import {
  type CreateSessionRequest,
  GatewayFailure,
  type GatewayFailureFacts,
  type IssuedSession,
  type SessionGateway,
  type Tracing,
  untraced,
} from '#libs/session';
import { readAnswer, type SealedSession } from './answer-reader.js';
import { createSessionRequest } from './create-session-request.js';
import type { GatewayAnswer } from './gateway-answer.js';
import { callGateway, type CallTools } from './gateway-call.js';
import type { MerchantGateway } from './merchant-gateway.js';
import { readSession } from './session-plaintext.js';

interface SessionGatewayOptions extends CallTools {
  /** Asked at each call, so that a changed configuration takes effect with the next one. */
  readonly merchants: (id: string) => MerchantGateway | undefined;
  /** Default: no tracing. */
  readonly tracing?: Tracing;
}

/** The create-session call over HTTP. One call is one request: whether to repeat it is up to the renewer alone. */
export class UndiciSessionGateway implements SessionGateway {
  readonly #options: SessionGatewayOptions;

  constructor(options: SessionGatewayOptions) {
    this.#options = options;
  }

  /** @throws GatewayFailure classified; of the answer it has only the code, status, request id and Retry-After */
  async createSession({ merchant, signal }: CreateSessionRequest): Promise<IssuedSession> {
    const gateway = this.#options.merchants(merchant);
    if (gateway === undefined) {
      throw new GatewayFailure({ kind: 'refused', detail: 'no gateway is configured for this merchant' });
    }
    await assertOpenable(gateway);
    const request = await createSessionRequest(gateway);
    const tracing = this.#options.tracing ?? untraced;
    const answer = await tracing.step('gateway_call', () => callGateway(this.#options, { gateway, request, signal }));
    return tracing.step('open', () => issue(answer, gateway));
  }
}

/**
 * A call whose answer could not be opened would end the current session without giving a new one, so it is not made.
 * @throws GatewayFailure `key_unavailable`
 */
async function assertOpenable({ clientKeys }: Pick<MerchantGateway, 'clientKeys'>): Promise<void> {
  try {
    await clientKeys[0]?.assertUsable();
  } catch (error) {
    if (!isKeyAway(error)) throw error;
    throw keyUnavailable(error, { wasReached: false });
  }
}

const isKeyAway = (error: unknown): error is BrokerError =>
  error instanceof BrokerError && error.code === 'client_key_unavailable';

function keyUnavailable(
  error: BrokerError,
  known: Pick<GatewayFailureFacts, 'wasReached' | 'requestId' | 'lostSession'>,
): GatewayFailure {
  return new GatewayFailure({ kind: 'key_unavailable', detail: error.detail ?? 'no more is known', ...known });
}

/** From the answer to the session in it: read, open, read, check. */
export async function issue(
  answer: GatewayAnswer,
  gateway: Pick<MerchantGateway, 'clientKeys'>,
): Promise<IssuedSession> {
  return readOpened(answer, await openAnswer(answer, gateway));
}

/** What was in the answer: opened, but not read yet. */
interface OpenedAnswer extends OpenedJwe {
  readonly sealed: SealedSession;
}

/** @throws GatewayFailure when the answer holds no session, or none that a key of the merchant opens */
export async function openAnswer(
  answer: GatewayAnswer,
  { clientKeys }: Pick<MerchantGateway, 'clientKeys'>,
): Promise<OpenedAnswer> {
  const sealed = readAnswer(answer);
  return { ...(await open(sealed, clientKeys)), sealed };
}

/** @throws GatewayFailure `invalid_response` */
export function readOpened(
  { sentAt, receivedAt }: Pick<GatewayAnswer, 'sentAt' | 'receivedAt'>,
  { sealed: { gatewayDate, marks }, plaintext, thumbprint }: OpenedAnswer,
): IssuedSession {
  return {
    ...readSession(plaintext, { marks, asOf: gatewayDate ?? receivedAt }),
    clientKeyThumbprint: thumbprint,
    sentAt,
    receivedAt,
    ...(gatewayDate === undefined ? {} : { gatewayDate }),
    ...(marks.requestId === undefined ? {} : { requestId: marks.requestId }),
  };
}

async function open({ jwe, marks }: SealedSession, keys: MerchantGateway['clientKeys']): Promise<OpenedJwe> {
  try {
    return await openJwe(jwe, keys);
  } catch (error) {
    if (isKeyAway(error)) throw keyUnavailable(error, { ...marks, lostSession: true });
    if (!(error instanceof BrokerError)) throw error;
    const thumbprint = error.code === 'jwe_not_opened' ? keys[0]?.thumbprint : undefined;
    throw new GatewayFailure({
      kind: 'invalid_response',
      detail: `the jwe was not opened (${error.code}): ${error.detail ?? 'no more is known'}`,
      ...marks,
      lostSession: true,
      ...(thumbprint === undefined ? {} : { thumbprint }),
      cause: error,
    });
  }
}
