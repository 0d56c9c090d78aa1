import { jest } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { demandLength, readUpTo, readWhole, wholeStream } from './request-body.js';

/** A request whose body the test writes. */
const aRequest = (headers: Record<string, string> = {}): IncomingMessage & PassThrough =>
  Object.assign(new PassThrough(), { headers, complete: false }) as unknown as IncomingMessage & PassThrough;

describe('the body of a request', () => {
  it('is read whole, once it has been asked for', async () => {
    const request = aRequest();
    const wantBody = jest.fn(() => void request.end('whole'));
    expect((await readWhole(request, { maxBytes: 5, wantBody })).toString()).toBe('whole');
    expect(wantBody).toHaveBeenCalledTimes(1);
  });

  it('is not asked for when its length says that it is too long', async () => {
    const wantBody = jest.fn();
    const failure = readWhole(aRequest({ 'content-length': '6' }), { maxBytes: 5, wantBody });
    await expect(failure).rejects.toMatchObject({ code: 'payload_too_large' });
    expect(wantBody).not.toHaveBeenCalled();
    expect(() => demandLength(aRequest({ 'content-length': '5' }), 5)).not.toThrow();
  });

  it('is too long one octet beyond its bound, whatever its length says', async () => {
    const request = aRequest({ 'content-length': '5' });
    const failure = readWhole(request, { maxBytes: 5, wantBody: () => void request.end('123456') });
    await expect(failure).rejects.toMatchObject({ code: 'payload_too_large' });
  });

  it('that is broken off is none', async () => {
    const request = aRequest();
    const failure = readWhole(request, { maxBytes: 5, wantBody: () => void request.write('1') });
    request.destroy();
    await expect(failure).rejects.toMatchObject({ code: 'request_timeout' });
  });

  it('is read up to a bound, and what follows is still there', async () => {
    const request = aRequest();
    request.write('123');
    request.write('456');
    const { bytes, hasEnded } = await readUpTo(request, 2);
    expect([bytes.toString(), hasEnded]).toEqual(['123', false]);
    const whole = text(wholeStream(request, bytes, 9));
    request.end('789');
    Object.assign(request, { complete: true });
    expect(await whole).toBe('123456789');
  });

  it('is cut in the middle of a stream that becomes too long', async () => {
    const request = aRequest();
    const stream = wholeStream(request, Buffer.from('123'), 5);
    request.end('456');
    await expect(text(stream)).rejects.toMatchObject({ code: 'payload_too_large' });
  });

  it('cuts the stream when its client breaks off, so that it never arrives whole', async () => {
    const request = aRequest();
    const read = text(wholeStream(request, Buffer.from('123'), 9));
    request.destroy();
    await expect(read).rejects.toMatchObject({ code: 'request_timeout' });
  });
});
