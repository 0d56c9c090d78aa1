import { Controller, Get, HttpCode, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiResponse, ApiTags } from '../docs/api-decorators.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Requires } from '../auth/access.js';
import { FORWARDED_HEADERS } from '../docs/answer-headers.js';
import { MerchantParameter, MinRemainingQuery, Problems } from '../docs/route-documents.js';
import { EXT_AUTHZ_PATH, type MerchantRoute, MERCHANTS_PATH, SESSION_HEADERS_PATH } from '../http/routes.js';
import { headersAnswer, type ProxyStatus } from './session-answer.js';
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
      'Forward auth: `auth_request` of nginx, `forward_auth` of Caddy, `ForwardAuth` of Traefik. Served as a plain read of the session is.',
    operationId: 'getSessionHeaders',
  })
  @MerchantParameter()
  @MinRemainingQuery()
  @ApiResponse({ status: 204, description: 'The session to use for one request.', headers: FORWARDED_HEADERS })
  @Problems(400, 401, 403, 404, 503)
  async getSessionHeaders(@Req() request: FastifyRequest<MerchantRoute>, @Res() reply: FastifyReply): Promise<void> {
    await this.#answer(request, reply, 204);
  }

  @Get(EXT_AUTHZ_PATH)
  @Requires({ scope: 'merchant', permission: 'session:read' })
  @ApiOperation({
    summary: 'The same for Envoy',
    description:
      '`ext_authz` of Envoy takes 200 alone for a yes, and asks with the method of the request that it holds and its path behind this one: POST, and whatever follows, are read as GET of this path.',
    operationId: 'getSessionHeadersForEnvoy',
  })
  @MerchantParameter()
  @MinRemainingQuery()
  @ApiResponse({ status: 200, description: 'The session to use for one request.', headers: FORWARDED_HEADERS })
  @Problems(400, 401, 403, 404, 503)
  async getSessionHeadersForEnvoy(
    @Req() request: FastifyRequest<MerchantRoute>,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.#answer(request, reply, 200);
  }

  async #answer(request: FastifyRequest<MerchantRoute>, reply: FastifyReply, asked: ProxyStatus): Promise<void> {
    const { session } = await this.lookup.findForProxy(request, reply);
    const { status, headers } = headersAnswer(session, asked);
    reply.code(status).headers(headers).send();
  }
}
