import { isUtf8 } from 'node:buffer';
import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BrokerError } from '#libs/errors';
import { SessionReplica } from '#libs/session';
import { AuditTrail, recordOf } from '../audit/audit-trail.js';
import { StandingAccess } from '../auth/policy-table.js';
import { StrictBody } from '../http/body.js';
import { ForMerchant, type MerchantRoute, MERCHANTS_PATH } from '../http/merchant-route.js';
import { RequestLife } from '../http/request-life.js';
import { ConfiguredMerchants } from '../renewal/configured-merchants.js';
import { notificationContentOf, sealedBodyOf } from './notification-content.js';
import { PayloadCipher } from './payload-cipher.service.js';
import {
  DecryptionDocument,
  DecryptionRequest,
  EncryptionDocument,
  EncryptionRequest,
  NotificationDocument,
  NotificationRequest,
} from './payload-documents.js';
import { bytesOf, MAX_PLAINTEXT_BYTES, textOf } from './payload-text.js';

type PayloadRequest = FastifyRequest<MerchantRoute>;

interface Opening {
  readonly action: string;
  readonly request: PayloadRequest;
  readonly reply: FastifyReply;
}

/** Payloads sealed, and payloads and notifications opened, with keys that never leave the broker. */
@Controller(MERCHANTS_PATH)
export class PayloadsController {
  constructor(
    private readonly replica: SessionReplica,
    private readonly merchants: ConfiguredMerchants,
    private readonly cipher: PayloadCipher,
    private readonly life: RequestLife,
    private readonly audit: AuditTrail,
    private readonly access: StandingAccess,
  ) {}

  @Post(':merchant/payloads/encrypt')
  @ForMerchant('payload:encrypt', {
    tag: 'payloads',
    summary: 'Seal a payload to the gateway, or to another key',
    description:
      'Sealed to the key of the current session, whose generation the answer names, or to the `recipient` without any session.',
    operationId: 'encryptPayload',
    body: EncryptionRequest,
    maxTextBytes: MAX_PLAINTEXT_BYTES,
    answer: { type: EncryptionDocument, description: 'The sealed payload.' },
  })
  async encryptPayload(
    @Req() request: PayloadRequest,
    @Body(new StrictBody(EncryptionRequest)) { plaintext, encoding, recipient }: EncryptionRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EncryptionDocument> {
    const bytes = bytesOf(plaintext, encoding ?? 'utf8');
    this.audit.done({ ...recordOf('payload.encrypt', request), bytes: bytes.length });
    const signal = this.life.signalFor(reply);
    if (recipient !== undefined) return { jwe: await this.cipher.sealTo(bytes, recipient, signal) };
    const { merchant } = request.params;
    const waitMs = this.merchants.renewalWaitMs(merchant);
    const wish = { merchant, minRemainingMs: 0, waitMs, waitsThroughFailure: false, signal };
    const { session } = await this.access.throughout(request, 'payload:encrypt', () => this.replica.wishes.read(wish));
    return { jwe: await this.cipher.sealToSession(bytes, session, signal), generation: session.generation };
  }

  @Post(':merchant/payloads/decrypt')
  @ForMerchant('payload:decrypt', {
    tag: 'payloads',
    summary: "Open a payload that is sealed to the merchant's client key",
    description: 'Opened with the key of the current session, and with the older ones after a change of keys.',
    operationId: 'decryptPayload',
    body: DecryptionRequest,
    answer: { type: DecryptionDocument, description: 'The opened payload.' },
    problems: [422],
  })
  async decryptPayload(
    @Req() request: PayloadRequest,
    @Body(new StrictBody(DecryptionRequest)) { jwe, encoding: wish }: DecryptionRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<DecryptionDocument> {
    const bytes = await this.#opened(jwe, { action: 'payload.decrypt', request, reply });
    this.audit.done({ ...recordOf('payload.decrypt', request), bytes: bytes.length });
    const { text, encoding } = textOf(bytes, wish);
    return { plaintext: text, encoding };
  }

  @Post(':merchant/notifications/open')
  @ForMerchant('payload:decrypt', {
    tag: 'notifications',
    summary: 'Open a notification of the gateway',
    description:
      'Opened where it is sealed, and held against the forms that the gateway sends. Needs `payload:decrypt`. Asking ' +
      'again is harmless.',
    operationId: 'openNotification',
    body: NotificationRequest,
    maxTextBytes: MAX_PLAINTEXT_BYTES,
    answer: { type: NotificationDocument, description: 'What the notification says.' },
    problems: [422],
  })
  async openNotification(
    @Req() request: PayloadRequest,
    @Body(new StrictBody(NotificationRequest)) received: NotificationRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NotificationDocument> {
    const jwe = sealedBodyOf(received);
    const action = 'notification.open';
    const bytes = jwe === undefined ? bytesInClear(received) : await this.#opened(jwe, { action, request, reply });
    this.audit.done({ ...recordOf(action, request), bytes: bytes.length });
    const { kind, content } = notificationContentOf(isUtf8(bytes) ? Buffer.from(bytes).toString('utf8') : '');
    return { kind, sealed: jwe !== undefined, content };
  }

  #opened(jwe: string, { action, request, reply }: Opening): Promise<Uint8Array> {
    const { merchant } = request.params;
    const recipient = { merchant, session: this.replica.held.get(merchant) };
    const signal = this.life.signalFor(reply);
    return this.access.throughout(request, 'payload:decrypt', () =>
      this.audit.attempt(recordOf(action, request), () => this.cipher.open(jwe, recipient, signal)),
    );
  }
}

/** @throws BrokerError `payload_too_large` */
function bytesInClear({ body }: NotificationRequest): Buffer {
  const bytes = Buffer.from(body, 'utf8');
  if (bytes.length > MAX_PLAINTEXT_BYTES) throw new BrokerError('payload_too_large');
  return bytes;
}
