import { Controller, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiResponse, ApiTags } from '../docs/api-decorators.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SessionReplica } from '#libs/session';
import { AuditTrail } from '../audit/audit-trail.js';
import { Requires } from '../auth/access.js';
import { callerOf } from '../auth/caller.js';
import { StandingAccess } from '../auth/standing-access.js';
import { NO_STORE } from '../docs/answer-headers.js';
import { MerchantParameter, Problems } from '../docs/route-documents.js';
import { RequestLife } from '../http/request-life.js';
import { TakesNoBody } from '../http/route-body.js';
import { type MerchantRoute, MERCHANTS_PATH, SESSION_PATH } from '../http/routes.js';
import { RenewalWait } from '../sessions/renewal-wait.js';
import { RenewalDocument, renewalDocument } from './renewal-document.js';

@ApiTags('sessions')
@ApiBearerAuth()
@Controller(MERCHANTS_PATH)
export class WantedRenewalsController {
  constructor(
    private readonly replica: SessionReplica,
    private readonly life: RequestLife,
    private readonly renewalWait: RenewalWait,
    private readonly audit: AuditTrail,
    private readonly access: StandingAccess,
  ) {}

  @Post(`${SESSION_PATH}/renewal`)
  @TakesNoBody()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Requires({ scope: 'merchant', permission: 'session:renew' })
  @ApiOperation({
    summary: 'Create a newer session now, because what failed is fixed',
    description:
      'For people. No back-off holds it up; the budget does. However many ask at once, one session is created. It takes no body.',
    operationId: 'renewSession',
  })
  @MerchantParameter()
  @ApiResponse({ status: 200, type: RenewalDocument, description: 'The newer session, without it.', headers: NO_STORE })
  @Problems(401, 403, 404, 413, 415, 429, 503)
  async renewSession(
    @Req() request: FastifyRequest<MerchantRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RenewalDocument> {
    const { merchant } = request.params;
    const { name: caller = '' } = callerOf(request) ?? {};
    const record = { action: 'session.renew', caller, merchant, requestId: request.id };
    const wish = { merchant, waitMs: this.renewalWait.waitMs(merchant), signal: this.life.signalFor(reply) };
    const answer = await this.access.throughout(request, 'session:renew', () =>
      this.audit.attempt(record, () => this.replica.wanted.renew(wish)),
    );
    this.audit.done({ ...record, generation: answer.session.generation });
    return renewalDocument(answer);
  }
}
