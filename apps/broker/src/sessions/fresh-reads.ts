import type { IncomingMessage } from 'node:http';
import type { SessionReplica } from '#libs/session';
import type { Authenticator } from '../auth/authenticator.service.js';
import type { Caller } from '../auth/caller.js';
import type { PolicyTable } from '../auth/policy-table.js';
import { matchesEtag } from '../http/conditional.js';
import { edgeHeaders, requestIdOf } from '#libs/edge';
import type { EarlyAnswer } from '../http/http-server.js';
import { MERCHANTS_PATH, SESSION_PATH } from '../http/routes.js';
import { etagOf, sessionAnswer } from './session-answer.js';
import type { SessionReads } from './session-reads.js';

interface FreshReadParts {
  readonly authenticator: Pick<Authenticator, 'known'>;
  readonly policies: Pick<PolicyTable, 'allows'>;
  readonly replica: Pick<SessionReplica, 'reader' | 'held'>;
  readonly reads: Pick<SessionReads, 'served'>;
}

const [BEFORE_MERCHANT = '', AFTER_MERCHANT = ''] = `/${MERCHANTS_PATH}/${SESSION_PATH}`.split(':merchant');

/**
 * Answers the one request that consumers make all day, a plain read of a fresh session, before the framework is
 * entered. It decides nothing of its own: it asks the same authenticator and policies and gives the same answer.
 * Whatever is not plainly allowed and fresh goes through the framework, where its answer or its refusal is made,
 * counted and logged.
 */
export function freshReads({ authenticator, policies, replica, reads }: FreshReadParts): EarlyAnswer {
  return (request, response) => {
    const merchant = merchantOf(request);
    const caller = merchant === undefined ? undefined : authenticator.known(request);
    if (merchant === undefined || !mayRead(policies, caller, merchant)) return false;
    const served = replica.reader.peek(merchant);
    if (served?.verdict.result !== 'fresh') return false;
    const { session } = served;
    const { generation } = session;
    reads.served({ caller: caller.name, merchant, generation }, 'fresh');
    const isUnchanged = matchesEtag(request.headers['if-none-match'], etagOf(generation));
    const untilRenewalMs = replica.held.untilRenewalMs(merchant);
    const { status, headers, body } = sessionAnswer(
      { kind: isUnchanged ? 'unchanged' : 'session', session },
      untilRenewalMs,
    );
    response.writeHead(status, { ...edgeHeaders(requestIdOf(request)), ...headers }).end(body);
    return true;
  };
}

/**
 * The merchant of a plain read. What is not a merchant's id is not a configured merchant either: the policies find that
 * out.
 */
function merchantOf({ method, url = '', headers }: IncomingMessage): string | undefined {
  if (method !== 'GET' || headers['prefer'] !== undefined) return undefined;
  if (!url.startsWith(BEFORE_MERCHANT) || !url.endsWith(AFTER_MERCHANT)) return undefined;
  return url.slice(BEFORE_MERCHANT.length, -AFTER_MERCHANT.length);
}

/** Also "no" for a caller that is not known yet: finding out takes time, and is done elsewhere. */
function mayRead(policies: FreshReadParts['policies'], caller: Caller | undefined, merchant: string): caller is Caller {
  return caller !== undefined && policies.allows(caller, merchant, 'session:read');
}
