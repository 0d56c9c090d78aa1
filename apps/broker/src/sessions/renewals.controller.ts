import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { told } from '#libs/causes';
import { BrokerError } from '#libs/errors';
import { type RejectionAnswer, type Session, SessionReplica } from '#libs/session';
import { AuditTrail, recordOf } from '../audit/audit-trail.js';
import { callerOf } from '../auth/caller.js';
import { StandingAccess } from '../auth/policy-table.js';
import { NEWER_SESSION_HEADERS } from '../docs/route-documents.js';
import { StrictBody } from '../http/body.js';
import { ForMerchant, type MerchantRoute, MERCHANTS_PATH, SESSION_PATH } from '../http/merchant-route.js';
import { RequestLife } from '../http/request-life.js';
import { ConfiguredMerchants } from '../renewal/configured-merchants.js';
import { etagOf, SESSION_CONTENT_TYPE } from './session-answer.js';
import {
  RejectionRequest,
  RenewalDocument,
  renewalDocument,
  SessionDocument,
  sessionJson,
} from './session-documents.js';

/** What has a newer session created: a consumer that reports the current one as dead, and a person who wants one. */
@Controller(MERCHANTS_PATH)
export class RenewalsController {
  constructor(
    private readonly replica: SessionReplica,
    private readonly merchants: ConfiguredMerchants,
    private readonly life: RequestLife,
    private readonly audit: AuditTrail,
    private readonly access: StandingAccess,
  ) {}

  @Post(`${SESSION_PATH}/rejections`)
  @ForMerchant('session:reject', {
    tag: 'sessions',
    summary: 'Report that the gateway refuses a session, and get a newer one',
    description:
      'However many report the same generation, one session is created, and at most one in ten seconds. At most one ' +
      'in `session.foreignAuthorizerPause` while somebody else creates sessions, or for reports without a code for ' +
      'a dead session.',
    operationId: 'rejectSession',
    body: RejectionRequest,
    answer: {
      type: SessionDocument,
      description: 'A session newer than the rejected one.',
      headers: NEWER_SESSION_HEADERS,
    },
  })
  async rejectSession(
    @Req() request: FastifyRequest<MerchantRoute>,
    @Body(new StrictBody(RejectionRequest)) { generation, reason }: RejectionRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { merchant } = request.params;
    const { name: caller } = callerOf(request);
    const rejection = {
      merchant,
      generation,
      waitMs: this.merchants.renewalWaitMs(merchant),
      signal: this.life.signalFor(reply),
      ...(reason === undefined ? {} : { reason }),
      consumer: caller,
    };
    const session = await this.access.throughout(request, 'session:reject', async () => {
      const record = { ...recordOf('session.reject', request), generation };
      const newer = await this.audit.attempt(record, async () =>
        this.#newerSession(merchant, await this.replica.wishes.reject(rejection)),
      );
      this.audit.done({ ...record, reason });
      return newer;
    });
    this.audit.read({ caller, merchant, generation: session.generation });
    reply.headers({ etag: etagOf(session.generation), 'cache-control': 'no-store' });
    reply.header('content-type', SESSION_CONTENT_TYPE).send(sessionJson(session, this.replica.held.leftOf(session)));
  }

  @Post(`${SESSION_PATH}/renewal`)
  @ForMerchant('session:renew', {
    tag: 'sessions',
    summary: 'Create a newer session now, because what failed is fixed',
    description:
      'For people. No back-off holds it up; the budget does. However many ask at once, one session is created. It ' +
      'takes no body.',
    operationId: 'renewSession',
    body: 'none',
    answer: { type: RenewalDocument, description: 'The newer session, without it.' },
  })
  async renewSession(
    @Req() request: FastifyRequest<MerchantRoute>,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RenewalDocument> {
    const { merchant } = request.params;
    const record = recordOf('session.renew', request);
    const wish = { merchant, waitMs: this.merchants.renewalWaitMs(merchant), signal: this.life.signalFor(reply) };
    const answer = await this.access.throughout(request, 'session:renew', () =>
      this.audit.attempt(record, () => this.replica.wishes.renew(wish)),
    );
    this.audit.done({ ...record, generation: answer.session.generation });
    return renewalDocument(answer);
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
