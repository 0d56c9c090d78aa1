import { Body, Controller, Header, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiBearerAuth, ApiBody, ApiOperation, ApiResponse, ApiTags } from '../docs/api-decorators.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Session, SessionReplica } from '#libs/session';
import type { AuditRecord } from '#libs/telemetry';
import { AuditTrail } from '../audit/audit-trail.js';
import { Requires } from '../auth/access.js';
import { callerOf } from '../auth/caller.js';
import { StandingAccess } from '../auth/standing-access.js';
import { NO_STORE } from '../docs/answer-headers.js';
import { MerchantParameter, Problems } from '../docs/route-documents.js';
import { RenewalWait } from '../sessions/renewal-wait.js';
import { RequestLife } from '../http/request-life.js';
import { TakesText } from '../http/route-body.js';
import { type MerchantRoute, MERCHANTS_PATH } from '../http/routes.js';
import { StrictBody } from '../http/strict-body.pipe.js';
import { MAX_PLAINTEXT_BYTES } from './payload-bounds.js';
import { PayloadCipher } from './payload-cipher.service.js';
import { DecryptionDocument, DecryptionRequest, EncryptionDocument, EncryptionRequest } from './payload-documents.js';
import { bytesOf, textOf } from './payload-text.js';

type PayloadRequest = FastifyRequest<MerchantRoute>;

@ApiTags('payloads')
@ApiBearerAuth()
@Controller(MERCHANTS_PATH)
export class PayloadsController {
  constructor(
    private readonly replica: SessionReplica,
    private readonly cipher: PayloadCipher,
    private readonly renewalWait: RenewalWait,
    private readonly life: RequestLife,
    private readonly audit: AuditTrail,
    private readonly access: StandingAccess,
  ) {}

  @Post(':merchant/payloads/encrypt')
  @TakesText(MAX_PLAINTEXT_BYTES)
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Requires({ scope: 'merchant', permission: 'payload:encrypt' })
  @ApiOperation({
    summary: 'Seal a payload to the gateway, or to another key',
    description:
      'Sealed to the key of the current session, whose generation the answer names, or to the `recipient` without any session.',
    operationId: 'encryptPayload',
  })
  @ApiBody({ type: EncryptionRequest })
  @MerchantParameter()
  @ApiResponse({ status: 200, type: EncryptionDocument, description: 'The sealed payload.', headers: NO_STORE })
  @Problems(400, 401, 403, 404, 413, 415, 429, 503)
  async encryptPayload(
    @Req() request: PayloadRequest,
    @Body(new StrictBody(EncryptionRequest)) { plaintext, encoding, recipient }: EncryptionRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EncryptionDocument> {
    const bytes = bytesOf(plaintext, encoding ?? 'utf8');
    this.#tell('payload.encrypt', request, bytes.length);
    const signal = this.life.signalFor(reply);
    if (recipient !== undefined) return { jwe: await this.cipher.sealTo(bytes, recipient, signal) };
    const session = await this.access.throughout(request, 'payload:encrypt', () =>
      this.#current(request.params.merchant, signal),
    );
    return { jwe: await this.cipher.sealToSession(bytes, session, signal), generation: session.generation };
  }

  @Post(':merchant/payloads/decrypt')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @Requires({ scope: 'merchant', permission: 'payload:decrypt' })
  @ApiOperation({
    summary: "Open a payload that is sealed to the merchant's client key",
    description: 'Opened with the key of the current session, and with the older ones after a change of keys.',
    operationId: 'decryptPayload',
  })
  @ApiBody({ type: DecryptionRequest })
  @MerchantParameter()
  @ApiResponse({ status: 200, type: DecryptionDocument, description: 'The opened payload.', headers: NO_STORE })
  @Problems(400, 401, 403, 404, 413, 415, 422, 429, 503)
  async decryptPayload(
    @Req() request: PayloadRequest,
    @Body(new StrictBody(DecryptionRequest)) { jwe, encoding: wish }: DecryptionRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DecryptionDocument> {
    const { merchant } = request.params;
    const recipient = { merchant, session: this.replica.held.get(merchant) };
    const signal = this.life.signalFor(reply);
    const record = this.#recordOf('payload.decrypt', request);
    const bytes = await this.access.throughout(request, 'payload:decrypt', () =>
      this.audit.attempt(record, () => this.cipher.open(jwe, recipient, signal)),
    );
    this.#tell('payload.decrypt', request, bytes.length);
    const { text, encoding } = textOf(bytes, wish);
    return { plaintext: text, encoding };
  }

  #tell(action: string, request: PayloadRequest, bytes: number): void {
    this.audit.done({ ...this.#recordOf(action, request), bytes });
  }

  #recordOf(
    action: string,
    request: PayloadRequest,
  ): Pick<AuditRecord, 'action' | 'caller' | 'merchant' | 'requestId'> {
    return { action, caller: callerOf(request)?.name, merchant: request.params.merchant, requestId: request.id };
  }

  async #current(merchant: string, signal: AbortSignal): Promise<Session> {
    const waitMs = this.renewalWait.waitMs(merchant);
    const wish = { merchant, minRemainingMs: 0, waitMs, waitsThroughFailure: false, signal };
    return (await this.replica.reader.read(wish)).session;
  }
}
