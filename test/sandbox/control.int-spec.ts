import { createHash, randomUUID } from 'node:crypto';
import { endedAfterEach, FakeClock } from '#libs/testing';
import { generateKeyPair, thumbprint } from '../../apps/sandbox/src/crypto/ec-key.js';
import { msgCodeOf, RunningSandbox } from './running-sandbox.js';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('control of the sandbox', () => {
  let clock: FakeClock;
  let sandbox: RunningSandbox;

  const started = endedAfterEach();
  beforeEach(async () => {
    clock = new FakeClock('2026-03-18T12:00:00.000Z');
    sandbox = started.add(await RunningSandbox.start(clock), (it) => it.close());
  });

  const status = async (method: string, path: string): Promise<number> =>
    (await sandbox.send(`/control${path}`, { method })).status;

  describe('merchants', () => {
    it('are registered, shown with their defaults, replaced and removed', async () => {
      const body = { id: 'shop', serviceCode: sandbox.serviceCode, publicJwk: sandbox.own.jwk };
      const created = await sandbox.send('/control/merchants', { body });
      expect(created.status).toBe(201);
      const shown = {
        ...body,
        form: 'full',
        expiryFormat: 'all',
        utcOffsetMinutes: 0,
        supersedes: false,
        supersededGraceMs: 0,
        requestData: 'ignored',
        requestDataName: 'jwe',
        clientKeyThumbprint: thumbprint(sandbox.own.jwk),
        payments: ['hosted', 'a2a', 'direct', 'refund'],
      };
      expect(await created.json()).toEqual(shown);
      const replaced = await sandbox.send('/control/merchants', { body: { ...body, form: 'short' } });
      expect(replaced.status).toBe(200);
      expect(await sandbox.control('/merchants', { method: 'GET' })).toEqual([
        { ...shown, form: 'short', expiryFormat: 'none' },
      ]);
      expect(await status('DELETE', '/merchants/shop')).toBe(204);
      expect(await status('GET', '/merchants/shop')).toBe(404);
      expect(await status('DELETE', '/merchants/shop')).toBe(404);
      await sandbox.register({ id: undefined });
      expect(await status('GET', `/merchants/${sandbox.serviceCode}`)).toBe(200);
    });

    it('keep their sessions when their key is replaced, and lose them when they are removed', async () => {
      await sandbox.register();
      const session = await sandbox.session();
      await sandbox.register({ publicJwk: generateKeyPair().jwk });
      expect((await sandbox.echo(session)).status).toBe(200);
      await sandbox.control('/merchants/shop', { method: 'DELETE' });
      expect(await msgCodeOf(await sandbox.echo(session))).toBe('b_unknown_device');
    });

    it.each<[string, (good: object) => unknown]>([
      ['merchants[1].serviceCode must be a UUID', (good) => [good, { ...good, id: 'b', serviceCode: 'b' }]],
      ['two merchants have the id a', (good) => [good, good]],
      ['belongs to merchant a', (good) => [good, { ...good, id: 'b' }]],
      ['must be a list', (good) => good],
    ])('of the start have to be valid: %s', async (says, merchants) => {
      const good = { id: 'a', serviceCode: sandbox.serviceCode, publicJwk: sandbox.own.jwk };
      await expect(RunningSandbox.start(clock, { merchants: merchants(good) })).rejects.toThrow(says);
    });
  });

  describe('bad input', () => {
    const jwk = generateKeyPair().privateKey.export({ format: 'jwk' });
    it.each<[string, string, unknown, RegExp]>([
      ['a merchant without anything', '/merchants', {}, /serviceCode must be a UUID; publicJwk: must be a JSON object/],
      ['a private key', '/merchants', { serviceCode: randomUUID(), publicJwk: jwk }, /must not hold "d"/],
      ['no number and no switch', '/merchants', { lifetimeMs: 0, supersedes: 'yes' }, /from 1 to \d+; supersedes must/],
      ['a list', '/merchants', [], /^a JSON object is due$/],
      ['a fault of no kind', '/faults', {}, /kind must be one of latency, hold/],
      ['a fault with what another has', '/faults', { kind: 'hold', delayMs: 1 }, /delayMs is unknown/],
      [
        'a member of every object',
        '/faults',
        { kind: 'hold', constructor: 1 },
        /constructor is unknown; known are kind/,
      ],
      [
        'a list of another',
        '/faults',
        { kind: 'interim', statuses: [102, 99] },
        /statuses\[1\] must be .* from 100 to 103/,
      ],
      ['a header that would split', '/faults', { kind: 'redirect', location: 'a\r\nb' }, /location must be/],
    ])('%s is answered with what is wrong, and not repeated', async (...[, path, body, detail]) => {
      const response = await sandbox.send(`/control${path}`, { body });
      expect(response.status).toBe(400);
      expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
      const text = await response.text();
      expect(JSON.parse(text)).toMatchObject({ code: 'invalid_request', detail: expect.stringMatching(detail) });
      expect(text).not.toContain(jwk.d);
    });

    it.each([
      ['GET', '/nothing', 404],
      ['DELETE', '/faults/1', 404],
      ['POST', '/faults/1/release', 404],
      ['DELETE', '/sessions/1', 404],
      ['DELETE', '/faults/x', 400],
      ['GET', '/calls?waitFor=-1', 400],
      ['GET', '/calls?colour=red', 400],
      ['GET', '/sessions?merchant=/', 400],
    ])('%s of %s is answered with %i', async (method, path, expected) => {
      expect(await status(method, path)).toBe(expected);
    });
  });

  it('faults are listed and cleared, one, those of a scope, or all', async () => {
    const { id } = await sandbox.fault({ kind: 'hang', merchant: 'shop' });
    await sandbox.fault({ kind: 'hang', operation: 'echo' });
    await sandbox.fault({ kind: 'drop', operation: 'echo', merchant: 'shop' });
    const ids = async (): Promise<unknown> =>
      (await sandbox.control<readonly { readonly id: number }[]>('/faults', { method: 'GET' })).map((one) => one.id);
    expect(await ids()).toEqual([id, id + 1, id + 2]);
    await sandbox.control(`/faults/${id}`, { method: 'DELETE' });
    const cleared = await sandbox.control('/faults?operation=echo&merchant=shop', { method: 'DELETE' });
    expect([cleared, await ids()]).toEqual([{ cleared: 1 }, [id + 1]]);
    expect(await sandbox.control('/faults', { method: 'DELETE' })).toEqual({ cleared: 1 });
  });

  it('settings are changed while it runs, all of them or none', async () => {
    await sandbox.register();
    const atStart = { lifetimeMs: 900_000, skewMs: 0, paymentMs: 0, duplicates: 'refused', settleMs: 1_000 };
    const body = { lifetimeMs: 1_000, skewMs: 'much' };
    expect((await sandbox.send('/control/settings', { method: 'PATCH', body })).status).toBe(400);
    expect(await sandbox.control('/settings', { method: 'GET' })).toEqual(atStart);
    const change = { lifetimeMs: 60_000, skewMs: 3_600_000 };
    expect(await sandbox.control('/settings', { method: 'PATCH', body: change })).toEqual({ ...atStart, ...change });
    expect((await sandbox.session()).tokenExpirationDateTime).toBe('2026-03-18 13:01:00.0000 +0000');
  });

  describe('sessions', () => {
    it('are listed by fingerprint, without any secret', async () => {
      await sandbox.register();
      const session = await sandbox.session();
      const response = await sandbox.send('/control/sessions?merchant=shop', { method: 'GET' });
      const text = await response.text();
      expect(JSON.parse(text)).toEqual([
        {
          id: 1,
          merchant: 'shop',
          state: 'live',
          createdAt: '2026-03-18T12:00:00.000Z',
          expiresAt: '2026-03-18T12:15:00.000Z',
          authTokenSha256: sha256(session.authToken),
          deviceIdSha256: sha256(session.deviceId),
          refreshTokenSha256: sha256(session.refreshToken ?? ''),
          serverKeyThumbprint: thumbprint(session.serverPublic!),
        },
      ]);
      for (const secret of [session.authToken, session.deviceId, session.refreshToken ?? '']) {
        expect(text + sandbox.lines.join('')).not.toContain(secret);
      }
    });

    it('are revoked, one with the code that is asked for, or all', async () => {
      await sandbox.register();
      const [first, second] = [await sandbox.session(), await sandbox.session()];
      await sandbox.control('/sessions/1?msgCode=b_expired_token', { method: 'DELETE' });
      expect(await msgCodeOf(await sandbox.echo(first))).toBe('b_expired_token');
      expect((await sandbox.echo(second)).status).toBe(200);
      expect(await sandbox.control('/sessions?merchant=shop', { method: 'DELETE' })).toEqual({ revoked: 2 });
      expect(await msgCodeOf(await sandbox.echo(second))).toBe('b_auth_token_expired');
    });
  });

  describe('the log of calls', () => {
    it('says of each call what it was, how it ended and how many were in flight', async () => {
      await sandbox.register();
      await sandbox.authorize({ headers: { 'x-request_id': 'one' } });
      await sandbox.authorize({ body: { serviceCode: '00000000-0000-4000-8000-000000000000' } });
      const { calls, ...counts } = await sandbox.calls();
      expect(counts).toEqual({ total: 2, inFlight: 0, matching: 2, timedOut: false });
      expect(calls).toEqual([
        {
          sequence: 1,
          at: '2026-03-18T12:00:00.000Z',
          operation: 'authorize',
          serviceCode: sandbox.serviceCode,
          merchant: 'shop',
          requestId: 'one',
          inFlight: 1,
          outcome: 'success',
          faults: [],
          session: 1,
          httpStatus: 200,
          durationMs: 0,
        },
        expect.objectContaining({ sequence: 2, outcome: 'refused', httpStatus: 200, msgCode: 'b_merchant_not_found' }),
      ]);
    });

    it('is narrowed down by what came before, operation, merchant and number', async () => {
      await sandbox.register();
      await sandbox.echo(await sandbox.session());
      await sandbox.authorize();
      const sequences = async (query: string): Promise<unknown> =>
        (await sandbox.calls(query)).calls.map(({ sequence }) => sequence);
      expect(await sequences('?since=1')).toEqual([2, 3]);
      expect(await sequences('?operation=authorize')).toEqual([1, 3]);
      expect(await sequences('?merchant=other')).toEqual([]);
      expect(await sequences(`?serviceCode=${sandbox.serviceCode}&limit=1`)).toEqual([1]);
    });

    it('is waited for until enough calls have finished, and no longer than was asked', async () => {
      await sandbox.register();
      const enough = sandbox.calls('?waitFor=2');
      await sandbox.authorize();
      await sandbox.authorize();
      expect(await enough).toMatchObject({ matching: 2, timedOut: false });
      expect(clock.pendingTasks).toBe(0);
      const waited = sandbox.calls('?waitFor=3&timeoutMs=5000');
      while (clock.pendingTasks === 0) await clock.settle();
      await clock.advance(5_000);
      expect(await waited).toMatchObject({ matching: 2, timedOut: true });
    });
  });

  it('resets everything to the start', async () => {
    await sandbox.register();
    const session = await sandbox.session();
    await sandbox.fault({ kind: 'hang' });
    await sandbox.control('/settings', { method: 'PATCH', body: { lifetimeMs: 1 } });
    expect(await status('POST', '/reset')).toBe(204);
    expect(await sandbox.control('/merchants', { method: 'GET' })).toEqual([]);
    expect(await sandbox.control('/faults', { method: 'GET' })).toEqual([]);
    expect(await sandbox.control('/settings', { method: 'GET' })).toMatchObject({ lifetimeMs: 900_000 });
    expect(await sandbox.calls()).toMatchObject({ total: 0 });
    await sandbox.register();
    expect(await msgCodeOf(await sandbox.echo(session))).toBe('b_unknown_device');
  });

  it('demands its token where one is set, on unknown routes as well, but never on those of the gateway', async () => {
    const guarded = await RunningSandbox.start(clock, { controlToken: 'let-me-in' });
    const get = async (path: string, token?: string): Promise<number> => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return (await guarded.send(path, { method: 'GET', headers })).status;
    };
    expect(await get('/control/settings')).toBe(401);
    expect(await get('/control/settings', 'let-me')).toBe(401);
    expect(await get('/control/nothing')).toBe(401);
    expect(await get('/control/settings', 'let-me-in')).toBe(200);
    expect(await get('/livez')).toBe(200);
    expect(await msgCodeOf(await guarded.authorize())).toBe('b_merchant_not_found');
    await guarded.close();
  });
});
