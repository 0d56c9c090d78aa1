import { isUtf8 } from 'node:buffer';
import { Body, Controller, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiResponse, ApiTags } from '../docs/api-decorators.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BrokerError } from '#libs/errors';
import { SessionReplica } from '#libs/session';
import type { AuditRecord } from '#libs/telemetry';
import { AuditTrail } from '../audit/audit-trail.js';
import { Requires } from '../auth/access.js';
import { callerOf } from '../auth/caller.js';
import { StandingAccess } from '../auth/standing-access.js';
import { NO_STORE } from '../docs/answer-headers.js';
import { MerchantParameter, Problems } from '../docs/route-documents.js';
import { RequestLife } from '../http/request-life.js';
import { TakesText } from '../http/route-body.js';
import { type MerchantRoute, MERCHANTS_PATH } from '../http/routes.js';
import { StrictBody } from '../http/strict-body.pipe.js';
import { MAX_PLAINTEXT_BYTES } from '../payloads/payload-bounds.js';
import { PayloadCipher } from '../payloads/payload-cipher.service.js';
import { notificationContentOf } from './notification-content.js';
import { NotificationDocument, NotificationRequest } from './notification-documents.js';
import { sealedBodyOf } from './received-notification.js';

type OpeningRequest = FastifyRequest<MerchantRoute>;

@ApiTags('notifications')
@ApiBearerAuth()
@Controller(MERCHANTS_PATH)
export class NotificationsController {
  constructor(
    private readonly replica: SessionReplica,
    private readonly cipher: PayloadCipher,
    private readonly life: RequestLife,
    private readonly audit: AuditTrail,
    private readonly access: StandingAccess,
  ) {}

  @Post(':merchant/notifications/open')
  @TakesText(MAX_PLAINTEXT_BYTES)
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Requires({ scope: 'merchant', permission: 'payload:decrypt' })
  @ApiOperation({
    summary: 'Open a notification of the gateway',
    description:
      'Opened where it is sealed, and held against the forms that the gateway sends. Needs `payload:decrypt`. Asking ' +
      'again is harmless.',
    operationId: 'openNotification',
  })
  @ApiBody({ type: NotificationRequest })
  @MerchantParameter()
  @ApiResponse({
    status: 200,
    type: NotificationDocument,
    description: 'What the notification says.',
    headers: NO_STORE,
  })
  @Problems(400, 401, 403, 404, 413, 415, 422, 429, 503)
  async openNotification(
    @Req() request: OpeningRequest,
    @Body(new StrictBody(NotificationRequest)) received: NotificationRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NotificationDocument> {
    const jwe = sealedBodyOf(received);
    const bytes = jwe === undefined ? bytesOf(received.body) : await this.#opened(request, jwe, reply);
    this.audit.done({ ...recordOf(request), bytes: bytes.length });
    const { kind, content } = notificationContentOf(isUtf8(bytes) ? Buffer.from(bytes).toString('utf8') : '');
    return { kind, sealed: jwe !== undefined, content };
  }

  #opened(request: OpeningRequest, jwe: string, reply: FastifyReply): Promise<Uint8Array> {
    const { merchant } = request.params;
    const recipient = { merchant, session: this.replica.held.get(merchant) };
    const signal = this.life.signalFor(reply);
    return this.access.throughout(request, 'payload:decrypt', () =>
      this.audit.attempt(recordOf(request), () => this.cipher.open(jwe, recipient, signal)),
    );
  }
}

function recordOf(request: OpeningRequest): Pick<AuditRecord, 'action' | 'caller' | 'merchant' | 'requestId'> {
  const { merchant } = request.params;
  return { action: 'notification.open', caller: callerOf(request)?.name, merchant, requestId: request.id };
}

/** @throws BrokerError `payload_too_large` */
function bytesOf(body: string): Buffer {
  const bytes = Buffer.from(body, 'utf8');
  if (bytes.length > MAX_PLAINTEXT_BYTES) throw new BrokerError('payload_too_large');
  return bytes;
}
