import { endedAfterEach, eventually, FakeClock } from '#libs/testing';
import { readPublicKey } from '../../apps/sandbox/src/crypto/ec-key.js';
import { RawConnection } from '../egress/raw-exchange.js';
import { AUTHORIZE, msgCodeOf, type ReadSession, RunningSandbox } from './running-sandbox.js';

/** The error that a call ends with; undici hides the socket's error as its cause. */
async function failureOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    const { cause, message } = error as Error & { readonly cause?: { readonly code?: string } };
    return cause?.code ?? message;
  }
  throw new Error('the call was answered');
}

function isOnCurve(key: unknown): boolean {
  try {
    return readPublicKey(key).jwk.x.length === 64;
  } catch {
    return false;
  }
}

describe('a fault', () => {
  let clock: FakeClock;
  let sandbox: RunningSandbox;

  const started = endedAfterEach();
  beforeEach(async () => {
    clock = new FakeClock('2026-03-18T12:00:00.000Z');
    sandbox = started.add(await RunningSandbox.start(clock), (it) => it.close());
    await sandbox.register();
  });

  const arrived = (count = 1): Promise<unknown> => sandbox.calls(`?waitFor=${count}&until=arrived`);
  const lastCall = async () => (await sandbox.calls('?waitFor=1')).calls.at(-1);
  const sessionCount = async (): Promise<number> =>
    (await sandbox.control<readonly object[]>('/sessions', { method: 'GET' })).length;

  describe('of time', () => {
    it('latency answers when the delay is over, not before, also with a fault of the answer', async () => {
      await sandbox.fault({ kind: 'latency', delayMs: 3_000 });
      await sandbox.fault({ kind: 'error', status: 500 });
      const answered = sandbox.authorize();
      await arrived();
      await clock.advance(2_999);
      expect(await sandbox.calls()).toMatchObject({ inFlight: 1 });
      await clock.advance(1);
      expect((await answered).status).toBe(500);
      expect(await lastCall()).toMatchObject({ durationMs: 3_000, faults: ['latency', 'error'] });
    });

    it('hold keeps calls until they are let go, one by one or all', async () => {
      const { id } = await sandbox.fault({ kind: 'hold' });
      const answers = [sandbox.session(), sandbox.session(), sandbox.session()];
      await arrived(3);
      expect(await sandbox.control('/faults', { method: 'GET' })).toMatchObject([{ id, waiting: 3, used: 3 }]);
      expect(await sessionCount()).toBe(0);
      expect(await sandbox.control(`/faults/${id}/release`, { body: { count: 1 } })).toEqual({ released: 1 });
      await Promise.race(answers);
      expect(await sandbox.calls()).toMatchObject({ inFlight: 2 });
      expect(await sandbox.control(`/faults/${id}/release`)).toEqual({ released: 2 });
      await Promise.all(answers);
    });

    it('hold that was meant for one call stays until it is cleared, so that the call can be let go', async () => {
      const { id } = await sandbox.fault({ kind: 'hold', times: 1, at: 'answer' });
      const held = sandbox.session();
      await arrived();
      await sandbox.session();
      expect(await sessionCount()).toBe(2);
      await sandbox.control(`/faults/${id}`, { method: 'DELETE' });
      expect((await held).authToken).toBeDefined();
    });

    it('goes on although the caller has left: the session is made, and supersedes', async () => {
      await sandbox.register({ supersedes: true });
      const held = await sandbox.session();
      const { id } = await sandbox.fault({ kind: 'hold', times: 1 });
      const leaving = new AbortController();
      const left = failureOf(sandbox.authorize({ signal: leaving.signal }));
      await arrived(2);
      leaving.abort();
      await left;
      expect((await sandbox.calls('?waitFor=2')).calls[1]).toMatchObject({ outcome: 'disconnected' });
      await sandbox.control(`/faults/${id}/release`);
      await clock.settle();
      expect(await msgCodeOf(await sandbox.echo(held))).toBe('b_session_doesnt_exist');
      expect((await sandbox.calls()).calls[1]).toMatchObject({ outcome: 'disconnected', session: 2 });
    });
  });

  describe('of the connection', () => {
    it.each<[string, number]>([
      ['arrival', 0],
      ['answer', 1],
    ])('hang at the %s never answers, with %i sessions made', async (at, sessions) => {
      await sandbox.fault({ kind: 'hang', at });
      const leaving = new AbortController();
      const left = failureOf(sandbox.authorize({ signal: leaving.signal }));
      await arrived();
      await clock.advance(86_400_000);
      expect(await sandbox.calls()).toMatchObject({ inFlight: 1 });
      leaving.abort();
      await left;
      expect(await lastCall()).toMatchObject({ outcome: 'disconnected', faults: ['hang'] });
      expect(await sessionCount()).toBe(sessions);
    });

    it('hang in the body sends headers and half of it, and no more', async () => {
      await sandbox.fault({ kind: 'hang', at: 'body' });
      const leaving = new AbortController();
      const response = await sandbox.authorize({ signal: leaving.signal });
      const reader = response.body!.getReader();
      const { value } = (await reader.read()) as { readonly value: Uint8Array };
      expect(value.length).toBe(Math.floor(Number(response.headers.get('content-length')) / 2));
      const rest = failureOf(reader.read());
      leaving.abort();
      await rest;
      expect(await lastCall()).toMatchObject({ outcome: 'disconnected' });
    });

    it('drop in the body ends the connection after half of it', async () => {
      await sandbox.fault({ kind: 'drop', at: 'body' });
      const response = await sandbox.authorize();
      expect(response.status).toBe(200);
      expect(await failureOf(response.text())).toMatch(/UND_ERR_SOCKET|ECONNRESET/);
      expect(await lastCall()).toMatchObject({ outcome: 'fault', httpStatus: 200 });
    });

    it('slow body sends the headers at once and the body drop by drop', async () => {
      await sandbox.fault({ kind: 'slow', part: 'body', bytes: 400, everyMs: 1_000 });
      const response = await sandbox.authorize();
      const length = Number(response.headers.get('content-length'));
      expect(length).toBeGreaterThan(800);
      const read = response.text();
      await clock.advance(Math.floor(length / 400) * 1_000);
      expect(await sandbox.calls()).toMatchObject({ inFlight: 1 });
      await clock.advance(1_000);
      expect(await read).toHaveLength(length);
      expect(await lastCall()).toMatchObject({ outcome: 'fault', faults: ['slow'] });
    });

    it('slow headers send nothing at once, and every octet in the end', async () => {
      await sandbox.fault({ kind: 'slow', part: 'headers', bytes: 16, everyMs: 10 });
      let isAnswered = false;
      const answered = sandbox.authorize().finally(() => (isAnswered = true));
      await arrived();
      await clock.advance(50);
      expect(isAnswered).toBe(false);
      await clock.advance(60_000);
      expect((await sandbox.read(await answered)).authToken).toBeDefined();
    });
  });

  it('interim sends informational answers that nobody asked for, several in a row, before the one that counts', async () => {
    await sandbox.fault({ kind: 'interim', statuses: [100, 102, 103, 103] });
    const connection = await RawConnection.to(sandbox.url);
    const body = JSON.stringify({ serviceCode: sandbox.serviceCode });
    const head = [`POST ${AUTHORIZE} HTTP/1.1`, 'host: x', 'content-type: application/json'];
    connection.write([...head, `content-length: ${body.length}`, '', body].join('\r\n'));
    await eventually(() => connection.statuses.length === 5);
    connection.vanish();
    expect(connection.statuses).toEqual([100, 102, 103, 103, 200]);
    expect(await sessionCount()).toBe(1);
  });

  it.each<[object, number, Readonly<Record<string, string | RegExp>>, RegExp]>([
    [
      { kind: 'error', status: 429, msgCode: 'b_too_many', retryAfter: '7' },
      429,
      { 'retry-after': '7' },
      /"serviceId":"sandbox","msgCode":"b_too_many","msgType":"ERROR"/,
    ],
    [
      { kind: 'redirect', status: 307, location: 'http://127.0.0.1:1/' },
      307,
      { location: 'http://127.0.0.1:1/' },
      /^$/,
    ],
    [{ kind: 'empty', status: 502 }, 502, {}, /^$/],
    [
      { kind: 'firewall_page', status: 403 },
      403,
      { 'content-type': 'text/html; charset=utf-8', 'set-cookie': /^visid_incap=/ },
      /^<!DOCTYPE html>[^]*Incident ID: [\da-f]{24}/,
    ],
    [{ kind: 'garbage_body', status: 502, text: '<html>' }, 502, { 'content-type': /^text\/html/ }, /^<html>$/],
  ])('stands in for the answer, and no session is made: %j', async (...[fault, status, headers, text]) => {
    await sandbox.fault(fault);
    const response = await sandbox.authorize();
    expect([response.status, await response.text()]).toEqual([status, expect.stringMatching(text)]);
    for (const [name, value] of Object.entries(headers))
      expect(response.headers.get(name)).toEqual(typeof value === 'string' ? value : expect.stringMatching(value));
    expect(await lastCall()).toMatchObject({ outcome: 'fault', httpStatus: status });
    expect(await sessionCount()).toBe(0);
  });

  describe('of the JWE', () => {
    it.each<[string, string]>([
      ['random', 'jwe_malformed'],
      ['four_parts', 'jwe_malformed'],
      ['other_alg', 'jwe_algorithm_refused'],
      ['zip', 'jwe_malformed'],
      ['crit', 'jwe_malformed'],
      ['bad_epk', 'jwk_invalid'],
    ])('garbage_jwe of the shape %s is refused as %s', async (shape, code) => {
      await sandbox.fault({ kind: 'garbage_jwe', shape });
      const response = await sandbox.authorize();
      expect(response.status).toBe(200);
      await expect(sandbox.read(response)).rejects.toMatchObject({ code });
    });

    it('wrong_key seals for somebody else, also in an echo', async () => {
      const session = await sandbox.session();
      await sandbox.fault({ kind: 'wrong_key' });
      for (const response of [await sandbox.authorize(), await sandbox.echo(session)]) {
        await expect(sandbox.open(response)).rejects.toMatchObject({ code: 'jwe_not_opened' });
      }
    });

    it('oversized adds this many octets to the body, or to the headers', async () => {
      await sandbox.fault({ kind: 'oversized', bytes: 300_000, times: 1 });
      const response = await sandbox.authorize();
      expect(Number(response.headers.get('content-length'))).toBeGreaterThan(300_000);
      expect((await sandbox.read(response)).authToken).toBeDefined();
      await sandbox.fault({ kind: 'oversized', part: 'headers', bytes: 10_000 });
      expect((await sandbox.authorize()).headers.get('x-padding')).toHaveLength(10_000);
    });
  });

  describe('of the session', () => {
    it('missing_fields leaves out what it names, or jwe itself', async () => {
      await sandbox.fault({ kind: 'missing_fields', fields: ['authToken', 'serverPublic'], times: 1 });
      const rest = ['deviceId', 'refreshToken', 'sessionExpiration', 'tokenExpiration', 'tokenExpirationDateTime'];
      expect(Object.keys(await sandbox.session()).sort()).toEqual(rest);
      await sandbox.fault({ kind: 'missing_fields', fields: ['jwe'] });
      expect(await (await sandbox.authorize()).json()).toEqual({});
    });

    it.each<[object, (session: ReadSession) => unknown, unknown]>([
      [{ kind: 'off_curve_server_key' }, ({ serverPublic }) => isOnCurve(serverPublic), false],
      [
        { kind: 'two_server_keys' },
        ({ serverPublic, serverPublicKey }) => [serverPublic, serverPublicKey].map(isOnCurve),
        [true, true],
      ],
      [
        { kind: 'unparseable_expiry', text: 'tomorrow' },
        ({ tokenExpirationDateTime, tokenExpiration }) => [tokenExpirationDateTime, tokenExpiration],
        ['tomorrow', 'tomorrow'],
      ],
    ])('%j is found in the session', async (fault, look, expected) => {
      await sandbox.fault(fault);
      const session = await sandbox.session();
      expect(look(session)).toEqual(expected);
      expect(session.serverPublic).not.toEqual(session.serverPublicKey);
    });

    it('clock_skew moves Date and expiry alike, and no lifetime', async () => {
      await sandbox.register({ lifetimeMs: 60_000 });
      await sandbox.fault({ kind: 'clock_skew', skewMs: -3_600_000 });
      const response = await sandbox.authorize();
      expect(response.headers.get('date')).toBe('Wed, 18 Mar 2026 11:00:00 GMT');
      const session = await sandbox.read(response);
      expect(session.tokenExpirationDateTime).toBe('2026-03-18 11:01:00.0000 +0000');
      await clock.advance(59_999);
      expect((await sandbox.echo(session)).status).toBe(200);
    });
  });

  describe('is met', () => {
    it('in the order in which faults were set, as a script', async () => {
      await sandbox.fault({ kind: 'error', times: 1, status: 500 });
      await sandbox.fault({ kind: 'empty', times: 1 });
      await sandbox.fault({ kind: 'error', times: 1, status: 404 });
      const statuses = [];
      for (let call = 0; call < 4; call += 1) statuses.push((await sandbox.authorize()).status);
      expect(statuses).toEqual([500, 204, 404, 200]);
      expect(await sandbox.control('/faults', { method: 'GET' })).toEqual([]);
    });

    it('by its merchant and operation only', async () => {
      const other = '11111111-1111-4111-8111-111111111111';
      await sandbox.register({ id: 'other', serviceCode: other });
      await sandbox.fault({ kind: 'error', merchant: 'other' });
      await sandbox.fault({ kind: 'error', operation: 'echo', status: 401, msgCode: 'b_used_token' });
      expect((await sandbox.authorize({ body: { serviceCode: other } })).status).toBe(503);
      const response = await sandbox.echo(await sandbox.session());
      expect([response.status, await msgCodeOf(response)]).toEqual([401, 'b_used_token']);
    });
  });

  it('leaves nothing behind when the sandbox closes on calls that wait', async () => {
    await sandbox.fault({ kind: 'latency', delayMs: 60_000, times: 1 });
    await sandbox.fault({ kind: 'hold', times: 1 });
    await sandbox.fault({ kind: 'hang' });
    const failures = [1, 2, 3].map(() => failureOf(sandbox.authorize()));
    await arrived(3);
    await sandbox.close();
    await Promise.all(failures);
    expect(clock.pendingTasks).toBe(0);
  });
});
