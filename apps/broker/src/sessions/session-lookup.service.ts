import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BrokerError } from '#libs/errors';
import { type Session, SessionReplica } from '#libs/session';
import { callerOf } from '../auth/caller.js';
import { StandingAccess } from '../auth/standing-access.js';
import { matchesEtag } from '../http/conditional.js';
import type { MerchantRoute } from '../http/routes.js';
import { RenewalWait } from './renewal-wait.js';
import { preferredWaitSeconds } from './prefer-wait.js';
import { RequestLife } from '../http/request-life.js';
import { etagOf, type FoundSession } from './session-answer.js';
import { SessionReads } from './session-reads.js';
import { parseSessionQuery } from './session-query.js';

interface SessionWish {
  readonly merchant: string;
  readonly minRemainingMs: number;
  readonly waitSeconds: number | undefined;
}

/** Finds the session that answers a request: at once from memory, or after the wait that the request asks for. */
@Injectable()
export class SessionLookup {
  constructor(
    @Inject(SessionReplica) private readonly replica: SessionReplica,
    @Inject(RequestLife) private readonly life: RequestLife,
    @Inject(SessionReads) private readonly reads: SessionReads,
    @Inject(RenewalWait) private readonly renewalWait: RenewalWait,
    @Inject(StandingAccess) private readonly access: StandingAccess,
  ) {}

  /** @throws BrokerError `invalid_request` or `session_unavailable` */
  async find(request: FastifyRequest<MerchantRoute>, reply: FastifyReply): Promise<FoundSession> {
    return this.#noted(request, () => this.#find(request, reply));
  }

  /**
   * For a proxy, which copies its client's headers: what that client prefers or already holds is not meant for the
   * broker.
   * @throws BrokerError `invalid_request` or `session_unavailable`
   */
  async findForProxy(request: FastifyRequest<MerchantRoute>, reply: FastifyReply): Promise<FoundSession> {
    return this.#noted(request, async () => {
      const { minRemainingMs } = parseSessionQuery(request.query);
      const wish = { merchant: request.params.merchant, minRemainingMs, waitSeconds: undefined };
      return { kind: 'session', session: await this.#current(wish, reply) };
    });
  }

  async #noted(request: FastifyRequest<MerchantRoute>, find: () => Promise<FoundSession>): Promise<FoundSession> {
    const { merchant } = request.params;
    try {
      // It may have waited for a minute, and the session may have been created after its caller was removed.
      const found = await this.access.throughout(request, 'session:read', find);
      const read = { caller: callerOf(request)?.name ?? '', merchant, generation: found.session.generation };
      this.reads.served(read, this.replica.reader.verdict(merchant).result);
      return found;
    } catch (error) {
      if (error instanceof BrokerError && error.code === 'session_unavailable') this.reads.unavailable(merchant);
      throw error;
    }
  }

  async #find(request: FastifyRequest<MerchantRoute>, reply: FastifyReply): Promise<FoundSession> {
    const { merchant } = request.params;
    const { minRemainingMs } = parseSessionQuery(request.query);
    const waitSeconds = preferredWaitSeconds(request.headers['prefer']);
    const session = await this.#current({ merchant, minRemainingMs, waitSeconds }, reply);
    if (!matchesEtag(request.headers['if-none-match'], etagOf(session.generation))) {
      return { kind: 'session', session, ...(waitSeconds === undefined ? {} : { waitedFor: waitSeconds }) };
    }
    if (waitSeconds === undefined) return { kind: 'unchanged', session };
    const wait = { merchant, waitMs: waitSeconds * 1_000, signal: this.life.signalFor(reply) };
    const newer = await this.replica.reader.newerThan(session.generation, wait);
    if (newer !== undefined) return { kind: 'session', session: newer, waitedFor: waitSeconds };
    // The caller's session may have ended while it waited: what is no longer served must not be confirmed as unchanged.
    const { session: served } = await this.replica.reader.read({
      ...wait,
      waitMs: 0,
      minRemainingMs: 0,
      waitsThroughFailure: false,
    });
    const kind = served.generation === session.generation ? 'unchanged' : 'session';
    return { kind, session: served, waitedFor: waitSeconds };
  }

  async #current(wish: SessionWish, reply: FastifyReply): Promise<Session> {
    const { merchant, minRemainingMs, waitSeconds } = wish;
    const { reader } = this.replica;
    if (minRemainingMs === 0 && waitSeconds === undefined) {
      const served = reader.peek(merchant);
      if (served?.verdict.result === 'fresh') return served.session;
    }
    const signal = this.life.signalFor(reply);
    const waitsThroughFailure = waitSeconds !== undefined;
    const waitMs = waitsThroughFailure ? waitSeconds * 1_000 : this.renewalWait.waitMs(merchant);
    const { session } = await reader.read({ merchant, minRemainingMs, waitMs, waitsThroughFailure, signal });
    return session;
  }
}
