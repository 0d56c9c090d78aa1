import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseDurationMs } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { type Session, SessionReplica } from '#libs/session';
import { StandingAccess } from '../auth/policy-table.js';
import { ApiHeader, ApiResponse } from '../docs/api-decorators.js';
import { FORWARDED_HEADERS, MinRemainingQuery, SESSION_HEADERS } from '../docs/route-documents.js';
import {
  EXT_AUTHZ_PATH,
  ForMerchant,
  type MerchantRoute,
  MERCHANTS_PATH,
  SESSION_HEADERS_PATH,
  SESSION_PATH,
} from '../http/merchant-route.js';
import { RequestLife } from '../http/request-life.js';
import { ConfiguredMerchants } from '../renewal/configured-merchants.js';
import {
  etagOf,
  type FoundSession,
  headersAnswer,
  matchesEtag,
  type ProxyStatus,
  sessionAnswer,
} from './session-answer.js';
import { SessionDocument } from './session-documents.js';
import { SessionReads } from './session-reads.js';

type ReadRequest = FastifyRequest<MerchantRoute>;

interface Wish {
  /** 0 when any session will do. */
  readonly minRemainingMs: number;
  readonly waitSeconds?: number | undefined;
}

const FOR_PROXIES = { description: 'The session to use for one request.', headers: FORWARDED_HEADERS };

/** Reads of a session that are not answered before the framework: at once from memory, or after a wait. */
@Controller(MERCHANTS_PATH)
export class SessionController {
  constructor(
    private readonly replica: SessionReplica,
    private readonly merchants: ConfiguredMerchants,
    private readonly life: RequestLife,
    private readonly reads: SessionReads,
    private readonly access: StandingAccess,
  ) {}

  @Get(SESSION_PATH)
  @ForMerchant('session:read', {
    tag: 'sessions',
    summary: 'The current session of a merchant',
    description:
      'From memory. With nothing to serve, or less left than `minRemaining` wants, the request waits for one renewal.',
    operationId: 'getSession',
    answer: { type: SessionDocument, description: 'The session to use now.', headers: SESSION_HEADERS },
  })
  @MinRemainingQuery()
  @ApiHeader({ name: 'If-None-Match', required: false, description: 'The ETag of the session that you hold.' })
  @ApiHeader({
    name: 'Prefer',
    required: false,
    description: '`wait=30`: with If-None-Match, wait until the session changes; without it, wait for the first one.',
  })
  @ApiResponse({ status: 304, description: 'The session that you hold is the current one.', headers: SESSION_HEADERS })
  async getSession(@Req() request: ReadRequest, @Res() reply: FastifyReply): Promise<void> {
    const found = await this.#noted(request, () => this.#find(request, reply));
    const { status, headers, body } = sessionAnswer(found, this.replica.held.leftOf(found.session));
    reply.code(status).headers(headers).send(body);
  }

  @Get(SESSION_HEADERS_PATH)
  @ForMerchant('session:read', {
    tag: 'sessions',
    summary: 'The current session as headers of a request, for a proxy',
    description:
      'Forward auth: `auth_request` of nginx, `forward_auth` of Caddy, `ForwardAuth` of Traefik. Served as a plain ' +
      'read of the session is.',
    operationId: 'getSessionHeaders',
    answer: { status: 204, ...FOR_PROXIES },
  })
  @MinRemainingQuery()
  async getSessionHeaders(@Req() request: ReadRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.#answerProxy(request, reply, 204);
  }

  @Get(EXT_AUTHZ_PATH)
  @ForMerchant('session:read', {
    tag: 'sessions',
    summary: 'The same for Envoy',
    description:
      '`ext_authz` of Envoy takes 200 alone for a yes. It asks with method and path of the request that it holds: ' +
      'POST, and whatever follows this path, are read as GET of it.',
    operationId: 'getSessionHeadersForEnvoy',
    answer: FOR_PROXIES,
  })
  @MinRemainingQuery()
  async getSessionHeadersForEnvoy(@Req() request: ReadRequest, @Res() reply: FastifyReply): Promise<void> {
    await this.#answerProxy(request, reply, 200);
  }

  /** A proxy copies its client's headers: what that client prefers or already holds is not meant for the broker. */
  async #answerProxy(request: ReadRequest, reply: FastifyReply, asked: ProxyStatus): Promise<void> {
    const { session } = await this.#noted(request, async () => {
      return { kind: 'session', session: await this.#current(request, reply, queryOf(request)) };
    });
    const { status, headers } = headersAnswer(session, asked);
    reply.code(status).headers(headers).send();
  }

  async #noted(request: ReadRequest, find: () => Promise<FoundSession>): Promise<FoundSession> {
    const { merchant } = request.params;
    try {
      // It may have waited for a minute, and the session may have been created after its caller was removed.
      const found = await this.access.throughout(request, 'session:read', find);
      const read = { caller: request.caller?.name ?? '', merchant, generation: found.session.generation };
      this.reads.served(read, this.replica.wishes.verdict(merchant).result);
      return found;
    } catch (error) {
      if (error instanceof BrokerError && error.code === 'session_unavailable') this.reads.unavailable(merchant);
      throw error;
    }
  }

  async #find(request: ReadRequest, reply: FastifyReply): Promise<FoundSession> {
    const { merchant } = request.params;
    const waitSeconds = preferredWaitSeconds(request.headers['prefer']);
    const session = await this.#current(request, reply, { ...queryOf(request), waitSeconds });
    if (!matchesEtag(request.headers['if-none-match'], etagOf(session.generation))) {
      return { kind: 'session', session, ...(waitSeconds === undefined ? {} : { waitedFor: waitSeconds }) };
    }
    if (waitSeconds === undefined) return { kind: 'unchanged', session };
    const wait = { merchant, waitMs: waitSeconds * 1_000, signal: this.life.signalFor(reply) };
    const newer = await this.replica.wishes.newerThan(session.generation, wait);
    if (newer !== undefined) return { kind: 'session', session: newer, waitedFor: waitSeconds };
    // The caller's session may have ended while it waited: what is no longer served must not be confirmed as unchanged.
    const atOnce = { ...wait, waitMs: 0, minRemainingMs: 0, waitsThroughFailure: false };
    const { session: served } = await this.replica.wishes.read(atOnce);
    const kind = served.generation === session.generation ? 'unchanged' : 'session';
    return { kind, session: served, waitedFor: waitSeconds };
  }

  async #current(request: ReadRequest, reply: FastifyReply, { minRemainingMs, waitSeconds }: Wish): Promise<Session> {
    const { merchant } = request.params;
    const { wishes } = this.replica;
    if (minRemainingMs === 0 && waitSeconds === undefined) {
      const served = wishes.peek(merchant);
      if (served?.verdict.result === 'fresh') return served.session;
    }
    const signal = this.life.signalFor(reply);
    const waitsThroughFailure = waitSeconds !== undefined;
    const waitMs = waitsThroughFailure ? waitSeconds * 1_000 : this.merchants.renewalWaitMs(merchant);
    const { session } = await wishes.read({ merchant, minRemainingMs, waitMs, waitsThroughFailure, signal });
    return session;
  }
}

/** Asking for more than an hour to be left must be a mistake: no session is renewed that early. */
const MAX_MIN_REMAINING_MS = 3_600_000;

/** @throws BrokerError `invalid_request` naming the parameter, never its value */
function queryOf({ query }: ReadRequest): Wish {
  const { minRemaining, ...unknown } = query;
  if (Object.keys(unknown).length > 0) {
    throw new BrokerError('invalid_request', { publicDetail: 'unknown query parameter; known is: minRemaining' });
  }
  if (minRemaining === undefined) return { minRemainingMs: 0 };
  const minRemainingMs = typeof minRemaining === 'string' ? parseDurationMs(minRemaining) : undefined;
  if (minRemainingMs === undefined || minRemainingMs > MAX_MIN_REMAINING_MS) {
    throw new BrokerError('invalid_request', {
      publicDetail: 'minRemaining must be one duration of at most an hour, such as 60s or 2m',
    });
  }
  return { minRemainingMs };
}

/** A request waits no longer than this, whatever the caller prefers: proxies along the way give up at about this time. */
const MAX_WAIT_S = 60;

/**
 * The `wait` preference (RFC 7240 section 4.3). One that is not understood is ignored, as the RFC requires; one that is
 * too long is cut to the maximum.
 */
function preferredWaitSeconds(prefer: string | readonly string[] | undefined): number | undefined {
  const preferences = [prefer ?? []].flat().join(',').split(',');
  for (const preference of preferences) {
    const match = /^\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:;.*)?$/i.exec(preference);
    if (match !== null) return Math.min(Number(match[1]), MAX_WAIT_S);
  }
  return undefined;
}
