import { FakeClock } from '#libs/testing';
import { judgeRedisError, type RedisVerdict } from './redis-failure.js';
import { RedisHealth } from './redis-health.js';
import { RedisKeys } from './redis-layout.js';
import { type ProbedLinks, RedisProbe, ServerClocks } from './redis-probe.js';

const silence = (): Error => new Error('Command timed out');
const refusal = (message = 'READONLY no writes here'): Error =>
  Object.assign(new Error(message), { name: 'ReplyError' });

class Bench {
  readonly clock = new FakeClock();
  readonly changes: string[] = [];
  probes = 0;
  outcome: () => Promise<void> = () => Promise.resolve();
  readonly health = new RedisHealth({
    clock: this.clock,
    stalledAfterMs: 2_000,
    onStateChange: (state, detail) => this.changes.push(`${state}: ${detail}`),
    probe: () => {
      this.probes += 1;
      return this.outcome().then(() => undefined, judgeRedisError);
    },
  });

  failing(error: Error = refusal()): void {
    this.outcome = () => Promise.reject(error);
  }

  passing(): void {
    this.outcome = () => Promise.resolve();
  }

  /** The store answers, as far as is known. */
  async answering(): Promise<void> {
    this.health.probeIn(0);
    await this.clock.advance(0);
  }
}

describe('RedisHealth', () => {
  it('answers once a probe has passed, and says so once', async () => {
    const bench = new Bench();
    bench.health.probeIn(1_500);
    bench.health.probeIn(0);
    await bench.clock.advance(20_000);
    expect(bench.changes).toEqual(['answers: the store answers']);
    expect(bench.probes).toBe(11);
  });

  it('takes silence for an answer when no connection comes up in time', async () => {
    const bench = new Bench();
    bench.failing(new Error("Stream isn't writeable and enableOfflineQueue options is false"));
    bench.health.probeIn(1_500);
    await bench.clock.advance(1_499);
    expect(bench.changes).toEqual([]);
    await bench.clock.advance(1);
    await bench.health.settled();
    expect(bench.changes).toEqual(['silent: not connected']);
  });

  it('says why once more when there is another reason, however often reasons take turns', async () => {
    const bench = new Bench();
    const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:6379'), { code: 'ECONNREFUSED' });
    bench.failing(silence());
    await bench.answering();
    for (let turn = 0; turn < 20; turn += 1) {
      bench.failing(turn % 2 === 0 ? refused : silence());
      await bench.clock.advance(500);
    }
    expect(bench.changes).toEqual(['silent: no answer in time', 'silent: ECONNREFUSED']);
    bench.failing();
    await bench.clock.advance(250);
    bench.failing(refusal('NOAUTH Authentication required.'));
    await bench.clock.advance(6_000);
    expect(bench.changes.slice(2)).toEqual(['refuses: READONLY', 'refuses: NOAUTH']);
  });

  it('does not change its mind for a command that fails: a probe decides, and it comes at once', async () => {
    const bench = new Bench();
    await bench.answering();
    await bench.clock.advance(1_000);
    bench.health.failed();
    await bench.clock.advance(0);
    expect(bench.probes).toBe(2);
    expect(bench.changes).toEqual(['answers: the store answers']);
  });

  it('reports one change, however many failures and probes there are', async () => {
    const bench = new Bench();
    await bench.answering();
    bench.failing(silence());
    for (let failure = 0; failure < 50; failure += 1) {
      bench.health.failed();
      await bench.clock.advance(100);
    }
    bench.passing();
    await bench.clock.advance(1_000);
    expect(bench.changes).toEqual([
      'answers: the store answers',
      'silent: no answer in time',
      'answers: the store answers again, after 5000 ms',
    ]);
  });

  it('keeps probes apart, however often operations fail', async () => {
    const bench = new Bench();
    await bench.answering();
    for (let failure = 0; failure < 100; failure += 1) {
      bench.health.failed();
      await bench.clock.advance(10);
    }
    expect(bench.probes).toBe(5);
  });

  it('tells a refusal from silence, with the reason', async () => {
    const bench = new Bench();
    bench.failing();
    bench.health.probeIn(0);
    await bench.clock.advance(5_000);
    bench.failing(silence());
    await bench.clock.advance(5_000);
    expect(bench.changes).toEqual(['refuses: READONLY', 'silent: no answer in time']);
  });

  it('learns nothing from a silent probe that took much longer than it may: the process itself was stalled', async () => {
    const bench = new Bench();
    await bench.answering();
    let fail: () => void = () => undefined;
    bench.outcome = () => new Promise((_resolve, reject) => (fail = () => reject(silence())));
    bench.health.probeIn(0);
    await bench.clock.advance(0);
    bench.clock.freeze(2_001);
    fail();
    bench.passing();
    await bench.clock.advance(0);
    await bench.clock.advance(250);
    expect(bench.probes).toBe(3);
    expect(bench.changes).toEqual(['answers: the store answers']);
  });

  it('leaves no timer and reports nothing once it is closed', async () => {
    const bench = new Bench();
    bench.health.probeIn(1_500);
    bench.health.close();
    bench.health.failed();
    bench.health.probeIn(0);
    await bench.clock.advance(10_000);
    await bench.health.settled();
    expect(bench.clock.pendingTasks).toBe(0);
    expect(bench.changes).toEqual([]);
  });
});

const LOADING: RedisVerdict = { kind: 'refuses', reason: 'LOADING' };
const NOT_CONNECTED: RedisVerdict = { kind: 'silent', reason: 'not connected' };

/** The connection for commands is away, for a reason that its return takes away; the other one answers late. */
class LinksOnTheirWayBack {
  known: RedisVerdict = LOADING;
  subscribed: () => void = () => undefined;

  readonly links: ProbedLinks = {
    judge: () => this.known,
    commands: { evalsha: () => Promise.reject(new Error('not connected')) } as unknown as ProbedLinks['commands'],
    subscribe: () => new Promise((resolve) => (this.subscribed = () => resolve(false))),
    reconnectSubscriber: () => undefined,
  };
}

describe('the probe', () => {
  it('judges a failure by what was known when it happened, however late its other parts end', async () => {
    const away = new LinksOnTheirWayBack();
    const clock = new FakeClock();
    const keys = new RedisKeys('broker', { kind: 'single' });
    const probe = new RedisProbe({
      links: away.links,
      keys,
      clock,
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

const AT = Date.UTC(2026, 0, 1);

describe('the clocks of the servers', () => {
  const clock = new FakeClock();
  const clocks = new ServerClocks(clock);

  /** An answer that the server gave `onTheWayBackMs` ago. */
  async function answered(serverNowMs: number, onTheWayBackMs: number, shard = 0): Promise<void> {
    const askedAtMs = clock.monotonicMs();
    await clock.advance(onTheWayBackMs);
    clocks.note(shard, serverNowMs, askedAtMs);
  }

  it('know nothing of a shard that has not answered', () => {
    expect(clocks.nowMs(0)).toBeUndefined();
  });

  it('follow the quickest answer, so that they are never ahead of the server', async () => {
    await answered(AT, 40);
    expect(clocks.nowMs(0)).toBe(AT);
    await clock.advance(1_000);
    expect(clocks.nowMs(0)).toBe(AT + 1_000);
    await answered(AT + 1_040, 3);
    expect(clocks.nowMs(0)).toBe(AT + 1_040);
    await answered(AT + 1_043, 500);
    expect(clocks.nowMs(0)).toBe(AT + 1_540);
  });

  it('follow a clock that is set forward, or back', async () => {
    await answered(AT + 3_600_000, 5);
    expect(clocks.nowMs(0)).toBe(AT + 3_600_000);
    await answered(AT, 5);
    expect(clocks.nowMs(0)).toBe(AT);
  });

  it('keep shards apart, whose servers have clocks of their own', async () => {
    await answered(AT - 90_000, 1, 7);
    expect(clocks.nowMs(7)).toBe(AT - 90_000);
    expect(clocks.nowMs(0)).toBe(AT + 1);
  });
});
