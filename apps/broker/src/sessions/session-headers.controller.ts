import { Controller, Get, HttpCode, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Requires } from '../auth/access.js';
import { FORWARDED_HEADERS } from '../docs/answer-headers.js';
import { MerchantParameter, MinRemainingQuery, Problems } from '../docs/route-documents.js';
import { type MerchantRoute, MERCHANTS_PATH, SESSION_HEADERS_PATH } from '../http/routes.js';
import { headersAnswer } from './session-answer.js';
import { SessionLookup } from './session-lookup.service.js';

@ApiTags('sessions')
@ApiBearerAuth()
@Controller(MERCHANTS_PATH)
export class SessionHeadersController {
  constructor(private readonly lookup: SessionLookup) {}

  @Get(SESSION_HEADERS_PATH)
  @HttpCode(204)
  @Requires({ scope: 'merchant', permission: 'session:read' })
  @ApiOperation({
    summary: 'The current session as headers of a request, for a proxy',
    description:
      'Forward auth: `auth_request` of nginx, `forward_auth` of Caddy, `ForwardAuth` of Traefik, `ext_authz` of Envoy. Served as a plain read of the session is. POST, and whatever path follows, are read as GET of this path: Envoy asks with the method and the path of the request that it holds.',
    operationId: 'getSessionHeaders',
  })
  @MerchantParameter()
  @MinRemainingQuery()
  @ApiResponse({ status: 204, description: 'The session to use for one request.', headers: FORWARDED_HEADERS })
  @Problems(400, 401, 403, 404, 503)
  async getSessionHeaders(@Req() request: FastifyRequest<MerchantRoute>, @Res() reply: FastifyReply): Promise<void> {
    const { session } = await this.lookup.findForProxy(request, reply);
    const { status, headers } = headersAnswer(session);
    reply.code(status).headers(headers).send();
  }
}
