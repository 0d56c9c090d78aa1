import type { SessionLeft } from '#libs/session';
import { aSession } from '#libs/testing';
import { type FoundSession, headersAnswer, sessionAnswer } from './session-answer.js';
import { sessionDocument } from './session-documents.js';

const found = (overrides: Partial<FoundSession> = {}): FoundSession => ({
  kind: 'session',
  session: aSession({ generation: 7 }),
  ...overrides,
});

const left = (renewInMs: number): SessionLeft => ({ expiresInMs: renewInMs + 20_000, renewInMs });

describe('the answer with a session', () => {
  it('is 200 with the whole document as JSON, and its length in bytes, not in characters', () => {
    const session = aSession({ generation: 7, merchant: 'bäckerei' });
    const { status, headers, body } = sessionAnswer(found({ session }), left(60_000));
    expect(status).toBe(200);
    expect(JSON.parse(body ?? '')).toEqual(sessionDocument(session, left(60_000)));
    expect(headers).toEqual({
      etag: '"7"',
      'cache-control': 'private, max-age=60',
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body ?? ''),
    });
  });

  it('is the same text for a tenth of a second, and never says that more is left than is', () => {
    const session = aSession();
    const [first, second, later] = [60_199, 60_100, 60_099.9].map((ms) => sessionAnswer(found({ session }), left(ms)));
    expect(JSON.parse(first?.body ?? '')).toMatchObject({ expiresInMs: 80_100, renewInMs: 60_100 });
    expect(second).toBe(first);
    expect(JSON.parse(later?.body ?? '')).toMatchObject({ expiresInMs: 80_000, renewInMs: 60_000 });
  });

  it.each<[renewInMs: number, maxAge: number]>([
    [59_999, 59],
    [999, 0],
    [0, 0],
  ])('may be kept until the session is renewed, in whole seconds and never too long: %d ms are %d s', (...row) => {
    const [renewInMs, maxAge] = row;
    for (const kind of ['session', 'unchanged'] as const) {
      const { headers } = sessionAnswer(found({ kind }), left(renewInMs));
      expect(headers['cache-control']).toBe(`private, max-age=${maxAge}`);
    }
  });

  it.each(['session', 'unchanged'] as const)('says which wait was granted, when one was: %s', (kind) => {
    expect(sessionAnswer(found({ kind, waitedFor: 30 }), left(0)).headers['preference-applied']).toBe('wait=30');
    expect(sessionAnswer(found({ kind, waitedFor: 0 }), left(0)).headers['preference-applied']).toBe('wait=0');
    expect(sessionAnswer(found({ kind }), left(0)).headers).not.toHaveProperty('preference-applied');
  });
});

describe('the answer with the headers of a session', () => {
  it('has those of the gateway, and is not kept by anybody', () => {
    const session = aSession({ generation: 7, refreshToken: '56587302-e3c6-49eb-a62c-97f2287e3005' });
    expect(headersAnswer(session, 204)).toEqual({
      status: 204,
      headers: {
        'x-api_version': 'V1',
        'x-device_id': session.deviceId,
        'x-refresh_token': session.refreshToken,
        etag: '"7"',
        'cache-control': 'no-store',
      },
    });
  });

  it('has the same with 200 and an empty body', () => {
    const [usual, ofEnvoy] = [headersAnswer(aSession(), 204), headersAnswer(aSession(), 200)];
    expect(ofEnvoy).toEqual({ status: 200, headers: { ...usual.headers, 'content-length': 0 } });
  });

  it('leaves the refresh token out where the session has none, rather than name it empty', () => {
    expect(Object.keys(headersAnswer(aSession(), 204).headers)).not.toContain('x-refresh_token');
  });
});
