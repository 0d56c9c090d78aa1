import type { IncomingMessage, ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { type Session, SessionReplica } from '#libs/session';
import { AuditTrail } from '../audit/audit-trail.js';
import type { Caller } from '../auth/caller.js';
import { ReadAccess } from '../auth/read-access.js';
import { matchesEtag } from '../http/conditional.js';
import { CAUTION, requestIdOf } from '../http/edge-headers.js';
import { ReadCounts } from './read-counts.js';
import { sessionJson } from './session-document.js';
import { SESSION_CONTENT_TYPE, sessionHeaders } from './session-headers.js';

const SESSION_PATH = /^\/v1\/merchants\/([a-z0-9-]{1,63})\/session$/;

/**
 * Answers the one request that consumers make all day, a plain read of a fresh session, before the framework is
 * entered. It decides nothing of its own: the same authenticator, policies, session and headers; whatever is not
 * plainly allowed and fresh goes the framework's way, where its answer or its refusal is made, counted and logged.
 */
@Injectable()
export class FreshRead {
  constructor(
    private readonly access: ReadAccess,
    private readonly replica: SessionReplica,
    private readonly reads: ReadCounts,
    private readonly audit: AuditTrail,
  ) {}

  /** @returns false when the request is not answered, and nothing has been written */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const found = this.#freshSession(request);
    if (found === undefined) return false;
    const { session, caller } = found;
    const { merchant, generation } = session;
    this.reads.count(merchant, 'fresh');
    this.audit.read({ caller: caller.name, merchant, generation });
    const headers = {
      'x-request-id': requestIdOf(request),
      ...CAUTION,
      ...sessionHeaders(session, this.replica.held.untilRenewalMs(session.merchant)),
    };
    if (matchesEtag(request.headers['if-none-match'], headers.etag)) {
      response.writeHead(304, headers).end();
      return true;
    }
    const body = sessionJson(session);
    response
      .writeHead(200, { ...headers, 'content-type': SESSION_CONTENT_TYPE, 'content-length': Buffer.byteLength(body) })
      .end(body);
    return true;
  }

  #freshSession(request: IncomingMessage): { session: Session; caller: Caller } | undefined {
    if (request.method !== 'GET' || request.headers['prefer'] !== undefined) return undefined;
    const merchant = SESSION_PATH.exec(request.url ?? '')?.[1];
    if (merchant === undefined) return undefined;
    const caller = this.access.allowedCaller(request, merchant);
    if (caller === undefined) return undefined;
    const served = this.replica.reader.peek(merchant);
    return served?.verdict.result === 'fresh' ? { session: served.session, caller } : undefined;
  }
}
