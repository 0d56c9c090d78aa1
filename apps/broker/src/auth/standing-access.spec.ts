import type { FastifyRequest } from 'fastify';
import { BrokerError } from '#libs/errors';
import type { Authenticator } from './authenticator.service.js';
import type { Caller } from './caller.js';
import { CredentialRefused } from './caller.js';
import type { PolicyTable } from './policy-table.js';
import { StandingAccess } from './policy-table.js';

type Request = FastifyRequest<{ Params: { readonly merchant: string } }>;

describe('the access of a request that waits', () => {
  let caller: Caller | undefined;
  let isAllowed: boolean;
  const authenticator = {
    authenticate: () =>
      caller === undefined ? Promise.reject(new CredentialRefused('missing')) : Promise.resolve(caller),
  };
  const policies = {
    assertAllowed: () => {
      if (!isAllowed) throw new BrokerError('forbidden');
    },
  };
  const access = new StandingAccess(authenticator as unknown as Authenticator, policies as unknown as PolicyTable);
  const request = { params: { merchant: 'shop' } } as Request;
  const wait = (work: () => Promise<string>): Promise<string> => access.throughout(request, 'session:read', work);

  beforeEach(() => {
    [caller, isAllowed] = [{ name: 'checkout' }, true];
  });

  it('leaves what came of the wait as it is while it stands', async () => {
    expect(await wait(() => Promise.resolve('session'))).toBe('session');
    const failed = wait(() => Promise.reject(new BrokerError('session_unavailable')));
    await expect(failed).rejects.toMatchObject({ code: 'session_unavailable' });
  });

  it.each([
    ['credential', 'unauthenticated', (): void => void (caller = undefined)],
    ['policy', 'forbidden', (): void => void (isAllowed = false)],
  ])('hides what came of it, good or bad, once the %s is gone', async (_what, code, remove) => {
    const good = wait(() => {
      remove();
      return Promise.resolve('session');
    });
    await expect(good).rejects.toMatchObject({ code });
    const bad = wait(() => Promise.reject(new BrokerError('session_unavailable')));
    await expect(bad).rejects.toMatchObject({ code });
  });

  it('is that of whoever the credential names by then', async () => {
    caller = { name: 'checkout of today' };
    await wait(() => Promise.resolve('session'));
    expect(request.caller).toBe(caller);
  });
});
