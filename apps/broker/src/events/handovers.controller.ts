import { Body, Controller, Header, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiResponse, ApiTags } from '../docs/api-decorators.js';
import { SessionReplica } from '#libs/session';
import { Requires } from '../auth/access.js';
import { NO_STORE } from '../docs/answer-headers.js';
import { MerchantParameter, Problems } from '../docs/route-documents.js';
import { MERCHANTS_PATH, SESSION_PATH } from '../http/routes.js';
import { StrictBody } from '../http/strict-body.pipe.js';
import { ReadyRequest } from './ready-request.js';

@ApiTags('sessions')
@ApiBearerAuth()
@Controller(MERCHANTS_PATH)
export class HandoversController {
  constructor(private readonly replica: SessionReplica) {}

  @Post(`${SESSION_PATH}/handovers`)
  @HttpCode(204)
  @Header('cache-control', 'no-store')
  @Requires({ scope: 'merchant', permission: 'session:read' })
  @ApiOperation({
    summary: 'Say that no call is running any more',
    description:
      'For consumers that follow with `handover=true`: the renewal that was announced need not wait for them any ' +
      'longer. Any replica takes it. What belongs to no hand-over of now changes nothing.',
    operationId: 'readyForHandover',
  })
  @MerchantParameter()
  @ApiBody({ type: ReadyRequest })
  @ApiResponse({ status: 204, description: 'It was passed on, or is of no use any more.', headers: NO_STORE })
  @Problems(400, 401, 403, 404, 413, 415, 503)
  async ready(
    @Param('merchant') merchant: string,
    @Body(new StrictBody(ReadyRequest)) { generation, participant }: ReadyRequest,
  ): Promise<void> {
    await this.replica.handovers.ready({ merchant, generation, participant });
  }
}
