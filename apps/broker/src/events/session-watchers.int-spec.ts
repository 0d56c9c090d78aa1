import { get, type IncomingMessage } from 'node:http';
import { SystemClock } from '#libs/clock';
import type { BrokerConfiguration } from '#libs/configuration';
import { HeldSessions, type SessionReplica } from '#libs/session';
import { aSession, endedAfterAll, eventually, hold, LoopbackServer } from '#libs/testing';
import { SessionWatchers } from './session-watchers.js';

describe('watchers over real sockets', () => {
  const clock = new SystemClock();
  const held = new HeldSessions(clock);
  const handovers = { attach: () => () => undefined };
  const replica = { held, wishes: { peek: () => undefined }, handovers } as unknown as SessionReplica;
  const watchers = new SessionWatchers(replica, clock, {
    current: { http: { maxWatchers: 10 } } as BrokerConfiguration,
  });
  let url: string;

  const started = endedAfterAll();
  beforeAll(async () => {
    const server = await LoopbackServer.http((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      const remove = watchers.add(response, { merchant: 'shop', generation: 0 });
      response.once('close', remove).on('error', remove);
    });
    url = `http://127.0.0.1:${started.add(server, (it) => it.close()).port}/`;
  });
  afterAll(() => watchers.onModuleDestroy());

  const connect = (): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => void get(url, { agent: false }, resolve).on('error', reject));

  it('cut the one that does not read, with little left in memory, and go on with the one that does', async () => {
    const stalled = await connect();
    const reader = await connect();
    let read = '';
    reader.setEncoding('utf8').on('data', (text: string) => (read = (read + text).slice(-2_000)));
    await eventually(() => watchers.count === 2);
    let generation = 0;
    await eventually(() => {
      for (let publish = 0; publish < 60; publish += 1) hold(held, aSession({ generation: (generation += 1) }));
      return watchers.count === 1;
    });
    await eventually(() => read.includes(`id: ${generation}\n`));
    stalled.destroy();
    reader.destroy();
    await eventually(() => watchers.count === 0);
    expect(generation).toBeGreaterThan(0);
  });
});
