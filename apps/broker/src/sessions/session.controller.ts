import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiHeader, ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SessionReplica } from '#libs/session';
import { Requires } from '../auth/access.js';
import { ETAG, MerchantParameter, Problems } from '../docs/route-documents.js';
import { SessionDocument, sessionJson } from './session-document.js';
import { SESSION_CONTENT_TYPE, sessionHeaders } from './session-headers.js';
import { type FoundSession, SessionLookup, type SessionRoute } from './session-lookup.service.js';

@ApiTags('sessions')
@ApiBearerAuth()
@Controller('v1/merchants')
export class SessionController {
  constructor(
    private readonly lookup: SessionLookup,
    private readonly replica: SessionReplica,
  ) {}

  @Get(':merchant/session')
  @Requires({ scope: 'merchant', permission: 'session:read' })
  @ApiOperation({ summary: 'The current session of a merchant', operationId: 'getSession' })
  @MerchantParameter()
  @ApiQuery({
    name: 'minRemaining',
    required: false,
    example: '60s',
    description: 'Renew first when less is left; at most 1h.',
    schema: { type: 'string', pattern: '^\\d{1,12}(\\.\\d{1,6})?(ms|s|m|h|d)$' },
  })
  @ApiHeader({ name: 'If-None-Match', required: false, description: 'The ETag of the session that you hold.' })
  @ApiHeader({
    name: 'Prefer',
    required: false,
    description: '`wait=30`: with If-None-Match, hold the request until the session changes; else wait for the first.',
  })
  @ApiResponse({ status: 200, type: SessionDocument, description: 'The session to use now.', headers: ETAG })
  @ApiResponse({ status: 304, description: 'The session that you hold is the current one.', headers: ETAG })
  @Problems(400, 401, 403, 503)
  async getSession(@Req() request: FastifyRequest<SessionRoute>, @Res() reply: FastifyReply): Promise<void> {
    this.#answer(reply, await this.lookup.find(request, reply));
  }

  #answer(reply: FastifyReply, found: FoundSession): void {
    const { session } = found;
    reply.headers(sessionHeaders(session, this.replica.held.untilRenewalMs(session.merchant)));
    if (found.waitedFor !== undefined) reply.header('preference-applied', `wait=${found.waitedFor}`);
    if (found.kind === 'unchanged') reply.code(304).send();
    else reply.header('content-type', SESSION_CONTENT_TYPE).send(sessionJson(session));
  }
}
