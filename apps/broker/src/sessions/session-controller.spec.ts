import type { FastifyReply, FastifyRequest } from 'fastify';
import { BrokerError } from '#libs/errors';
import type { Session, SessionReplica } from '#libs/session';
import { aSession } from '#libs/testing';
import type { StandingAccess } from '../auth/policy-table.js';
import type { MerchantRoute } from '../http/merchant-route.js';
import type { RequestLife } from '../http/request-life.js';
import type { ConfiguredMerchants } from '../renewal/configured-merchants.js';
import { etagOf } from './session-answer.js';
import { SessionController } from './session.controller.js';
import type { SessionReads } from './session-reads.js';

const [held, newer] = [aSession({ generation: 1 }), aSession({ generation: 2 })];

class Answer {
  status = 0;
  fields: Readonly<Record<string, unknown>> = {};

  code(status: number): this {
    this.status = status;
    return this;
  }

  headers(fields: Readonly<Record<string, unknown>>): this {
    this.fields = fields;
    return this;
  }

  send(): void {
    // What it says is proven elsewhere.
  }
}

/** A caller that holds a session waits for the next one in vain. @param after what a read is answered by then */
async function waited(after: () => Promise<{ session: Session }>): Promise<Answer> {
  const wishes = {
    read: ({ waitMs, minRemainingMs, waitsThroughFailure }: Record<string, unknown>) =>
      waitMs === 0 && minRemainingMs === 0 && waitsThroughFailure === false ? after() : { session: held },
    newerThan: () => Promise.resolve(undefined),
    verdict: () => ({ result: 'fresh' }),
  };
  const left = { expiresInMs: 20_000, renewInMs: 10_000 };
  const controller = new SessionController(
    { wishes, held: { leftOf: () => left } } as unknown as SessionReplica,
    {} as ConfiguredMerchants,
    { signalFor: () => new AbortController().signal } as unknown as RequestLife,
    { served: () => undefined, unavailable: () => undefined } as unknown as SessionReads,
    { throughout: (_request: unknown, _permission: unknown, work: () => Promise<unknown>) => work() } as StandingAccess,
  );
  const headers = { prefer: 'wait=10', 'if-none-match': etagOf(held.generation) };
  const request = { params: { merchant: 'shop' }, query: {}, headers } as unknown as FastifyRequest<MerchantRoute>;
  const answer = new Answer();
  await controller.getSession(request, answer as unknown as FastifyReply);
  return answer;
}

describe('a wait for the next session that ends', () => {
  it('says of what is still served that it is unchanged, and gives what has come at the last moment', async () => {
    const told = (session: Session): Promise<Answer> => waited(() => Promise.resolve({ session }));
    const granted = { 'preference-applied': 'wait=10' };
    expect(await told(held)).toMatchObject({ status: 304, fields: { etag: etagOf(1), ...granted } });
    expect(await told(newer)).toMatchObject({ status: 200, fields: { etag: etagOf(2), ...granted } });
  });

  it('is refused like any read once the session has ended', async () => {
    const ended = waited(() => Promise.reject(new BrokerError('session_unavailable', { retryAfterMs: 1_000 })));
    await expect(ended).rejects.toMatchObject({ code: 'session_unavailable', retryAfterMs: 1_000 });
  });
});
