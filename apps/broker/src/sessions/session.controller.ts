import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiHeader, ApiOperation, ApiResponse, ApiTags } from '../docs/api-decorators.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SessionReplica } from '#libs/session';
import { Requires } from '../auth/access.js';
import { SESSION_HEADERS } from '../docs/answer-headers.js';
import { MerchantParameter, MinRemainingQuery, Problems } from '../docs/route-documents.js';
import { type MerchantRoute, MERCHANTS_PATH, SESSION_PATH } from '../http/routes.js';
import { SessionDocument } from './session-document.js';
import { sessionAnswer } from './session-answer.js';
import { SessionLookup } from './session-lookup.service.js';

@ApiTags('sessions')
@ApiBearerAuth()
@Controller(MERCHANTS_PATH)
export class SessionController {
  constructor(
    private readonly lookup: SessionLookup,
    private readonly replica: SessionReplica,
  ) {}

  @Get(SESSION_PATH)
  @Requires({ scope: 'merchant', permission: 'session:read' })
  @ApiOperation({
    summary: 'The current session of a merchant',
    description:
      'From memory. With nothing to serve, or less left than `minRemaining` wants, the request waits for one renewal.',
    operationId: 'getSession',
  })
  @MerchantParameter()
  @MinRemainingQuery()
  @ApiHeader({ name: 'If-None-Match', required: false, description: 'The ETag of the session that you hold.' })
  @ApiHeader({
    name: 'Prefer',
    required: false,
    description: '`wait=30`: with If-None-Match, wait until the session changes; without it, wait for the first one.',
  })
  @ApiResponse({ status: 200, type: SessionDocument, description: 'The session to use now.', headers: SESSION_HEADERS })
  @ApiResponse({ status: 304, description: 'The session that you hold is the current one.', headers: SESSION_HEADERS })
  @Problems(400, 401, 403, 404, 503)
  async getSession(@Req() request: FastifyRequest<MerchantRoute>, @Res() reply: FastifyReply): Promise<void> {
    const found = await this.lookup.find(request, reply);
    const { status, headers, body } = sessionAnswer(found, this.replica.held.leftOf(found.session));
    reply.code(status).headers(headers).send(body);
  }
}
