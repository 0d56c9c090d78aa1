import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ScheduledTask, SystemClock } from '#libs/clock';
import { endedAfterEach, eventually, FakeClock, freePort, LoopbackServer } from '#libs/testing';
import { fetchPublished } from './fetch-published.js';
import { whatIsWrong } from './what-is-wrong.js';

/** Time is up before the system has had a chance to connect. */
class ImpatientClock extends FakeClock {
  override schedule(_delayMs: number, task: () => void): ScheduledTask {
    queueMicrotask(task);
    return { cancel: () => undefined };
  }
}

const started = endedAfterEach();
const placeAt = (port: number): { uri: URL } => ({ uri: new URL(`http://127.0.0.1:${port}/jwks`) });
const silent = async (): Promise<LoopbackServer> =>
  started.add(await LoopbackServer.tcp(() => undefined), (it) => it.close());

describe('what an issuer publishes', () => {
  it('is given up after five seconds where it takes the connection and is silent', async () => {
    const [clock, server] = [new FakeClock(), await silent()];
    const fetched = fetchPublished(placeAt(server.port), { clock });
    await eventually(() => server.connections === 1);
    await clock.advance(4_999);
    expect(clock.pendingTasks).toBe(1);
    await clock.advance(1);
    const failure = await fetched;
    expect(failure).toEqual({ kind: 'no_answer_in_time', wasReached: true });
    expect(clock.pendingTasks).toBe(0);
  });

  it('is given up where no connection comes about, as one that a network policy drops, and that is told', async () => {
    const [clock, server] = [new ImpatientClock(), await silent()];
    const place = placeAt(server.port);
    const failure = await fetchPublished(place, { clock });
    expect(failure).toEqual({ kind: 'no_answer_in_time', wasReached: false });
    if (failure.kind === 'document') throw new Error('there is none');
    expect(whatIsWrong(failure, place)).toMatchObject({
      fault: 'tryLater',
      problem: `nothing answers there (no connection in time to 127.0.0.1:${server.port})`,
      remedy: expect.stringContaining('network policies'),
    });
  });

  it('is not waited for by those who have had enough', async () => {
    const [enough, server] = [new AbortController(), await silent()];
    const fetched = fetchPublished(placeAt(server.port), { clock: new SystemClock(), signal: enough.signal });
    await eventually(() => server.connections === 1);
    enough.abort();
    expect(await fetched).toEqual({ kind: 'ended' });
  });

  it.each([
    ['is empty', ' \n'],
    ['holds what no request can', 'one\ntwo'],
  ])('is not asked for with a token whose file %s, and nothing of it is told', async (_what, content) => {
    const folder = started.add(await mkdtemp(join(tmpdir(), 'issuer-')), (it) => rm(it, { recursive: true }));
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, content);
    const place = { ...placeAt(await freePort()), tokenFile };
    const failure = await fetchPublished(place, { clock: new SystemClock() });
    expect(failure).toEqual({ kind: 'token_file' });
    if (failure.kind === 'document') throw new Error('there is none');
    expect(whatIsWrong(failure, place).problem).toBe('auth.jwt.jwksTokenFile holds no token');
  });

  it('is told to be at the wrong scheme where no TLS is spoken', async () => {
    const server = started.add(await LoopbackServer.http((_request, response) => response.end()), (it) => it.close());
    const place = { uri: new URL(`https://127.0.0.1:${server.port}/jwks`) };
    const failure = await fetchPublished(place, { clock: new SystemClock() });
    if (failure.kind === 'document') throw new Error('there is none');
    expect(whatIsWrong(failure, place)).toMatchObject({
      fault: 'invalidInput',
      problem: expect.stringContaining('the port speaks no TLS'),
      remedy: 'see scheme and port in auth.jwt.jwksUri',
    });
  });
});
