import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { FakeClock } from '#libs/testing';
import { readWhole } from './request-body.js';

describe('the body of a request', () => {
  it('that is broken off is none, and is not waited for', async () => {
    const clock = new FakeClock();
    const written = Object.assign(new PassThrough(), { headers: {}, complete: false });
    const request = written as unknown as IncomingMessage & PassThrough;
    const wantBody = (): void => void request.write('1');
    const read = readWhole(request, { maxBytes: 5, withinMs: 1_000, clock, wantBody });
    const failure = expect(read).rejects.toMatchObject({ code: 'request_timeout' });
    await clock.settle();
    request.destroy();
    await failure;
    expect(clock.pendingTasks).toBe(0);
  });
});
