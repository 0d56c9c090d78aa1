import type { ServerResponse } from 'node:http';
import { Body, Controller, Get, Inject, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Clock, msBetween } from '#libs/clock';
import { edgeHeaders } from '#libs/edge';
import { type Session, SessionReplica } from '#libs/session';
import { AuditTrail } from '../audit/audit-trail.js';
import { callerOf } from '../auth/caller.js';
import { StandingAccess } from '../auth/policy-table.js';
import { ApiExtraModels, ApiHeader, ApiQuery } from '../docs/api-decorators.js';
import { STREAM_HEADERS } from '../docs/route-documents.js';
import { StrictBody } from '../http/body.js';
import { ForMerchant, type MerchantRoute, MERCHANTS_PATH, SESSION_PATH } from '../http/merchant-route.js';
import { onceClosed } from '../http/request-life.js';
import { CLOCK } from '../platform/platform.js';
import { EVENT_STREAM, HandoverEventDocument, ReadyRequest, SessionEventDocument } from './event-documents.js';
import { SessionWatchers } from './session-watchers.js';

/** `x-accel-buffering`: otherwise nginx, and proxies that copied it, would collect events until a buffer is full. */
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

/** How soon a browser's EventSource reconnects, in ms (the specification of server-sent events, field `retry`). */
const RETRY_FRAME = Buffer.from('retry: 2000\n\n');

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
  @ForMerchant('session:read', {
    tag: 'sessions',
    summary: 'Follow the session of a merchant',
    description:
      'Server-sent events: `event: session`, with the generation as its id and the session as its data, now and ' +
      'whenever there is a newer one. A comment every 15 s. A stream ends after half an hour at the latest, and ' +
      'when the replica shuts down: connect again.',
    operationId: 'followSession',
    answer: {
      description: 'The stream.',
      headers: STREAM_HEADERS,
      content: { 'text/event-stream': { schema: EVENT_STREAM } },
    },
  })
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
      'You take part in hand-overs: `event: handover` says that a planned renewal is about to end your session. ' +
      'Hold new calls until the next session comes, and report when none is running.',
  })
  @ApiExtraModels(SessionEventDocument, HandoverEventDocument)
  async followSession(@Req() request: FastifyRequest<MerchantRoute>, @Res() reply: FastifyReply): Promise<void> {
    // A HEAD request follows nothing, so it takes up no place.
    if (request.method === 'HEAD') return void reply.headers(HEADERS).send();
    const { merchant } = request.params;
    // An id that was never issued counts as none: a stream waiting for newer ones would never get a session.
    const named = generationOfLastEvent(request.headers['last-event-id']);
    const generation = await this.replica.wishes.generationHeld(merchant, named);
    this.watchers.assertRoom();
    this.replica.wishes.demand(merchant);
    const response = reply.hijack().raw;
    // If the caller left while its credential was being checked, it takes up no place, and no session has been read.
    if (!response.closed) this.#stream(request, response, generation);
  }

  @Post(`${SESSION_PATH}/handovers`)
  @ForMerchant('session:read', {
    tag: 'sessions',
    summary: 'Say that no call is running any more',
    description:
      'For consumers that follow with `handover=true`: the renewal need not wait for you any longer. Any replica ' +
      'takes it. What belongs to no present hand-over changes nothing.',
    operationId: 'readyForHandover',
    body: ReadyRequest,
    answer: { status: 204, description: 'It was passed on, or is of no use any more.' },
  })
  ready(
    @Param('merchant') merchant: string,
    @Body(new StrictBody(ReadyRequest)) { generation, participant }: ReadyRequest,
  ): void {
    this.replica.handovers.ready({ merchant, generation, participant });
  }

  #stream(request: FastifyRequest<MerchantRoute>, response: ServerResponse, generation: number): void {
    const { merchant } = request.params;
    response.writeHead(200, { ...edgeHeaders(request.id), ...HEADERS });
    response.write(RETRY_FRAME);
    const { validUntil, name: caller } = callerOf(request);
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

/**
 * The generation that a consumer holds, from its `Last-Event-ID`; 0 when it holds none. A value that makes no sense
 * counts as none, as the specification of server-sent events requires for ids that a server does not know.
 */
export function generationOfLastEvent(lastEventId: string | string[] | undefined): number {
  if (typeof lastEventId !== 'string' || !/^\d{1,16}$/.test(lastEventId)) return 0;
  const generation = Number(lastEventId);
  return Number.isSafeInteger(generation) ? generation : 0;
}
