import { jest } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { FakeClock } from '#libs/testing';
import { readWhole } from './request-body.js';

/** A request whose body the test writes. */
const aRequest = (headers: Record<string, string> = {}): IncomingMessage & PassThrough =>
  Object.assign(new PassThrough(), { headers, complete: false }) as unknown as IncomingMessage & PassThrough;

describe('the body of a request', () => {
  const clock = new FakeClock();
  const read = (request: IncomingMessage, wantBody = (): void => undefined): Promise<Buffer> =>
    readWhole(request, { maxBytes: 5, withinMs: 1_000, clock, wantBody });
  afterEach(() => expect(clock.pendingTasks).toBe(0));

  it('is read whole, once it has been asked for', async () => {
    const request = aRequest();
    const wantBody = jest.fn(() => void request.end('whole'));
    expect((await read(request, wantBody)).toString()).toBe('whole');
    expect(wantBody).toHaveBeenCalledTimes(1);
  });

  it('is not asked for when its length says that it is too long', async () => {
    const wantBody = jest.fn();
    await expect(read(aRequest({ 'content-length': '6' }), wantBody)).rejects.toMatchObject({
      code: 'payload_too_large',
    });
    expect(wantBody).not.toHaveBeenCalled();
  });

  it('is too long one octet beyond its bound, whatever its length says', async () => {
    const request = aRequest({ 'content-length': '5' });
    await expect(read(request, () => void request.end('123456'))).rejects.toMatchObject({ code: 'payload_too_large' });
  });

  it('that is broken off is none', async () => {
    const request = aRequest();
    const failure = read(request, () => void request.write('1'));
    request.destroy();
    await expect(failure).rejects.toMatchObject({ code: 'request_timeout' });
  });

  it('that comes too slowly is not waited for', async () => {
    const failure = read(aRequest()).catch((error: unknown) => error);
    await clock.advance(1_000);
    expect(await failure).toMatchObject({ code: 'request_timeout' });
  });
});
