import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import {
  ApiBearerAuth,
  ApiExtraModels,
  ApiHeader,
  ApiOperation,
  ApiQuery,
  ApiResponse,
  ApiTags,
} from '../docs/api-decorators.js';
import type { ServerResponse } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Session, SessionReplica } from '#libs/session';
import { AuditTrail } from '../audit/audit-trail.js';
import { type Clock, msBetween } from '#libs/clock';
import { Requires } from '../auth/access.js';
import { callerOf } from '../auth/caller.js';
import { StandingAccess } from '../auth/standing-access.js';
import { CLOCK } from '../platform/tokens.js';
import { STREAM_HEADERS } from '../docs/answer-headers.js';
import { MerchantParameter, Problems } from '../docs/route-documents.js';
import { edgeHeaders } from '#libs/edge';
import { onceClosed } from '../http/once-closed.js';
import { type MerchantRoute, MERCHANTS_PATH, SESSION_PATH } from '../http/routes.js';
import { retryFrame } from './event-frames.js';
import { EVENT_STREAM, HandoverEventDocument, SessionEventDocument } from './event-documents.js';
import { generationOfLastEvent } from './last-event-id.js';
import { SessionWatchers } from './session-watchers.js';

/** `x-accel-buffering`: otherwise nginx, and proxies that copied it, would collect events until a buffer is full. */
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

const RETRY_FRAME = retryFrame(2_000);

@ApiTags('sessions')
@ApiBearerAuth()
@Controller(MERCHANTS_PATH)
export class EventsController {
  constructor(
    private readonly watchers: SessionWatchers,
    private readonly replica: SessionReplica,
    private readonly audit: AuditTrail,
    private readonly access: StandingAccess,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Get(`${SESSION_PATH}/events`)
  @Requires({ scope: 'merchant', permission: 'session:read' })
  @ApiOperation({
    summary: 'Follow the session of a merchant',
    description:
      'Server-sent events: `event: session` with the generation as its id and the session as its data; now, and ' +
      'whenever there is a newer one. A comment every 15 s. A stream ends after half an hour at the latest, and when ' +
      'the replica shuts down: connect again.',
    operationId: 'followSession',
  })
  @MerchantParameter()
  @ApiHeader({
    name: 'Last-Event-ID',
    required: false,
    description: 'The generation that you hold: it is not repeated.',
  })
  @ApiQuery({
    name: 'handover',
    required: false,
    enum: ['true'],
    description:
      'You take part in hand-overs: `event: handover` says that a planned renewal is about to end the session that you ' +
      'have. Hold new calls until the next session comes, and report when none is running any more.',
  })
  @ApiResponse({
    status: 200,
    description: 'The stream.',
    headers: STREAM_HEADERS,
    content: { 'text/event-stream': { schema: EVENT_STREAM } },
  })
  @ApiExtraModels(SessionEventDocument, HandoverEventDocument)
  @Problems(401, 403, 404, 503)
  async followSession(@Req() request: FastifyRequest<MerchantRoute>, @Res() reply: FastifyReply): Promise<void> {
    // A HEAD request follows nothing, so it takes up no place.
    if (request.method === 'HEAD') return void reply.headers(HEADERS).send();
    const { merchant } = request.params;
    // An id that was never issued counts as none: a stream waiting for newer ones would never get a session.
    const named = generationOfLastEvent(request.headers['last-event-id']);
    const generation = await this.replica.rejections.generationHeld(merchant, named);
    this.watchers.assertRoom();
    this.replica.reader.demand(merchant);
    const response = reply.hijack().raw;
    // If the caller left while its credential was being checked, it takes up no place, and no session has been read.
    if (!response.closed) this.#stream(request, response, generation);
  }

  #stream(request: FastifyRequest<MerchantRoute>, response: ServerResponse, generation: number): void {
    const { merchant } = request.params;
    response.writeHead(200, { ...edgeHeaders(request.id), ...HEADERS });
    response.write(RETRY_FRAME);
    const { validUntil, name: caller = '' } = callerOf(request) ?? {};
    const onSent = (session: Session): void => this.audit.read({ caller, merchant, generation: session.generation });
    const validForMs = validUntil === undefined ? undefined : msBetween(this.clock.now(), validUntil);
    const takesPart = request.query['handover'] === 'true';
    const asked = { merchant, permission: 'session:read' } as const;
    const mayStay = (): boolean => this.access.stands(request.raw, asked);
    const remove = this.watchers.add(response, { merchant, generation, mayStay, validForMs, onSent, takesPart });
    // A connection that breaks during a write reports both; the close is what counts.
    response.on('error', remove);
    onceClosed(response, remove);
  }
}
