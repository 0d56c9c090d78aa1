import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiResponse, ApiTags } from '../docs/api-decorators.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { told } from '#libs/causes';
import { BrokerError } from '#libs/errors';
import { type RejectionAnswer, type Session, SessionReplica } from '#libs/session';
import { AuditTrail } from '../audit/audit-trail.js';
import { Requires } from '../auth/access.js';
import { callerOf } from '../auth/caller.js';
import { StandingAccess } from '../auth/standing-access.js';
import { NEWER_SESSION_HEADERS } from '../docs/answer-headers.js';
import { MerchantParameter, Problems } from '../docs/route-documents.js';
import { RenewalWait } from '../sessions/renewal-wait.js';
import { RejectionRequest } from './rejection-request.js';
import { RequestLife } from '../http/request-life.js';
import { type MerchantRoute, MERCHANTS_PATH, SESSION_PATH } from '../http/routes.js';
import { SessionDocument, sessionJson } from '../sessions/session-document.js';
import { etagOf, SESSION_CONTENT_TYPE } from '../sessions/session-answer.js';
import { StrictBody } from '../http/strict-body.pipe.js';

@ApiTags('sessions')
@ApiBearerAuth()
@Controller(MERCHANTS_PATH)
export class RejectionsController {
  constructor(
    private readonly replica: SessionReplica,
    private readonly life: RequestLife,
    private readonly renewalWait: RenewalWait,
    private readonly audit: AuditTrail,
    private readonly access: StandingAccess,
  ) {}

  @Post(`${SESSION_PATH}/rejections`)
  @HttpCode(200)
  @Requires({ scope: 'merchant', permission: 'session:reject' })
  @ApiOperation({
    summary: 'Report that the gateway refuses a session, and get a newer one',
    description:
      'However many report the same generation, one session is created, and at most one in ten seconds; while somebody else creates sessions of the merchant, or for reports without a code for a dead session, at most one in `session.foreignAuthorizerPause`.',
    operationId: 'rejectSession',
  })
  @MerchantParameter()
  @ApiBody({ type: RejectionRequest })
  @ApiResponse({
    status: 200,
    type: SessionDocument,
    description: 'A session newer than the rejected one.',
    headers: NEWER_SESSION_HEADERS,
  })
  @Problems(400, 401, 403, 404, 413, 415, 429, 503)
  async rejectSession(
    @Req() request: FastifyRequest<MerchantRoute>,
    @Body(new StrictBody(RejectionRequest)) { generation, reason }: RejectionRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { merchant } = request.params;
    const rejection = {
      merchant,
      generation,
      waitMs: this.renewalWait.waitMs(merchant),
      signal: this.life.signalFor(reply),
      ...(reason === undefined ? {} : { reason }),
      ...consumerOf(request),
    };
    const { name: caller = '' } = callerOf(request) ?? {};
    const session = await this.access.throughout(request, 'session:reject', async () => {
      const record = { action: 'session.reject', caller, merchant, generation, requestId: request.id };
      const newer = await this.audit.attempt(record, async () => {
        const answer = await this.replica.rejections.reject(rejection);
        return this.#newerSession(merchant, answer);
      });
      this.audit.done({ ...record, reason });
      return newer;
    });
    this.audit.read({ caller, merchant, generation: session.generation });
    reply.headers({ etag: etagOf(session.generation), 'cache-control': 'no-store' });
    reply.header('content-type', SESSION_CONTENT_TYPE).send(sessionJson(session, this.replica.held.leftOf(session)));
  }

  /** @throws BrokerError `foreign_authorizer` or `session_unavailable` when no session is created now */
  #newerSession(merchant: string, answer: RejectionAnswer): Session {
    if (answer.kind !== 'cooled_down') return answer.session;
    const { retryInMs: retryAfterMs, because } = answer;
    const cause = this.replica.causeFor(merchant);
    const publicCause = cause && told(cause, merchant).text;
    if (because === 'foreign_authorizer') {
      const detail = `merchant ${merchant}: no session is created now for a rejection`;
      throw new BrokerError('foreign_authorizer', { detail, retryAfterMs, publicCause });
    }
    const detail = `merchant ${merchant}: a session was created for a rejection just now, and is rejected again`;
    throw new BrokerError('session_unavailable', { detail, reason: 'cooled_down', retryAfterMs, publicCause });
  }
}

function consumerOf(request: FastifyRequest): { consumer?: string } {
  const caller = callerOf(request);
  return caller === undefined ? {} : { consumer: caller.name };
}
