import { FakeClock } from '#libs/testing';
import { type RedisVerdict } from './redis-failure.js';
import { RedisKeys } from './redis-keys.js';
import { RedisProbe, type ProbedLinks } from './redis-probe.js';
import { ServerClocks } from './server-clocks.js';

const LOADING: RedisVerdict = { kind: 'refused', reason: 'LOADING' };
const NOT_CONNECTED: RedisVerdict = { kind: 'silent', reason: 'not connected' };

/** The connection for commands is away, for a reason that its return takes away; the other one answers late. */
class LinksOnTheirWayBack {
  readonly connection = {};
  known: RedisVerdict = LOADING;
  subscribed: () => void = () => undefined;

  readonly links: ProbedLinks = {
    judge: () => this.known,
    commands: { evalsha: () => Promise.reject(new Error('not connected')) } as unknown as ProbedLinks['commands'],
    subscriber: {
      subscribe: () => new Promise<void>((resolve) => (this.subscribed = resolve)),
    } as unknown as ProbedLinks['subscriber'],
    listeningConnection: () => this.connection,
    reconnectSubscriber: () => undefined,
  };
}

describe('the probe', () => {
  it('judges a failure by what was known when it happened, however late its other parts end', async () => {
    const away = new LinksOnTheirWayBack();
    const clock = new FakeClock();
    const keys = new RedisKeys('broker', 1);
    const probe = new RedisProbe({
      links: away.links,
      keys,
      clock,
      serverClocks: new ServerClocks(clock),
      timeoutMs: 1_000,
      onGap: () => undefined,
    });
    const verdict = probe.run();
    await clock.advance(0);
    away.known = NOT_CONNECTED;
    away.subscribed();
    expect(await verdict).toEqual(LOADING);
    expect(clock.pendingTasks).toBe(0);
  });
});
