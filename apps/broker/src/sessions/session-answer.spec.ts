import { aSession } from '#libs/testing';
import { etagOf, type FoundSession, headersAnswer, sessionAnswer } from './session-answer.js';
import { sessionDocument } from './session-document.js';

const found = (overrides: Partial<FoundSession> = {}): FoundSession => ({
  kind: 'session',
  session: aSession({ generation: 7 }),
  ...overrides,
});

describe('the answer with a session', () => {
  it('is 200 with the whole document as JSON, and its length in bytes', () => {
    const { status, headers, body } = sessionAnswer(found(), 60_000);
    expect(status).toBe(200);
    expect(JSON.parse(body ?? '')).toEqual(sessionDocument(aSession({ generation: 7 })));
    expect(headers).toEqual({
      etag: '"7"',
      'cache-control': 'private, max-age=60',
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body ?? ''),
    });
  });

  it('counts bytes, not characters', () => {
    const { headers, body = '' } = sessionAnswer(found({ session: aSession({ merchant: 'bäckerei' }) }), 0);
    expect(headers['content-length']).toBe(body.length + 1);
  });

  it('is the same text for the same session, however often it is asked for', () => {
    const session = aSession();
    const [first, second] = [sessionAnswer(found({ session }), 0), sessionAnswer(found({ session }), 5_000)];
    expect(second.body).toBe(first.body);
  });

  it('is 304 for a caller that has it: the headers of a cache and no body', () => {
    expect(sessionAnswer(found({ kind: 'unchanged' }), 60_000)).toEqual({
      status: 304,
      headers: { etag: '"7"', 'cache-control': 'private, max-age=60' },
    });
  });

  it.each<[untilRenewalMs: number, maxAge: number]>([
    [60_000, 60],
    [59_999, 59],
    [999, 0],
    [0, 0],
    [-1, 0],
    [-60_000, 0],
  ])('may be kept until the session is renewed, in whole seconds and never too long: %d ms are %d s', (...row) => {
    const [untilRenewalMs, maxAge] = row;
    for (const kind of ['session', 'unchanged'] as const) {
      const { headers } = sessionAnswer(found({ kind }), untilRenewalMs);
      expect(headers['cache-control']).toBe(`private, max-age=${maxAge}`);
    }
  });

  it.each(['session', 'unchanged'] as const)('says which wait was granted, when one was: %s', (kind) => {
    expect(sessionAnswer(found({ kind, waitedFor: 30 }), 0).headers['preference-applied']).toBe('wait=30');
    expect(sessionAnswer(found({ kind, waitedFor: 0 }), 0).headers['preference-applied']).toBe('wait=0');
    expect(sessionAnswer(found({ kind }), 0).headers).not.toHaveProperty('preference-applied');
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

describe('the entity tag of a session', () => {
  it('is its generation in quotes, whole up to the last number that is exact', () => {
    expect(etagOf(0)).toBe('"0"');
    expect(etagOf(Number.MAX_SAFE_INTEGER)).toBe('"9007199254740991"');
  });
});
