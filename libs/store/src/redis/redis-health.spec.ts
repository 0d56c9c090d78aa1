import { FakeClock } from '#libs/testing';
import { RedisHealth } from './redis-health.js';

class Bench {
  readonly clock = new FakeClock();
  readonly changes: string[] = [];
  probes = 0;
  outcome: () => Promise<void> = () => Promise.resolve();
  readonly health = new RedisHealth({
    clock: this.clock,
    onStateChange: (up, detail) => this.changes.push(`${up ? 'up' : 'down'}: ${detail}`),
    probe: () => {
      this.probes += 1;
      return this.outcome();
    },
  });

  failing(message = 'READONLY no writes here'): void {
    this.outcome = () => Promise.reject(new Error(message));
  }

  passing(): void {
    this.outcome = () => Promise.resolve();
  }
}

describe('RedisHealth', () => {
  it('is up once a probe has passed, and says so once', async () => {
    const bench = new Bench();
    bench.health.start(1_500);
    bench.health.probeNow();
    await bench.clock.advance(20_000);
    expect(bench.changes).toEqual(['up: the store answers']);
    expect(bench.probes).toBe(11);
  });

  it('takes silence for an answer when no connection comes up in time', async () => {
    const bench = new Bench();
    bench.failing("Stream isn't writeable and enableOfflineQueue options is false");
    bench.health.start(1_500);
    await bench.clock.advance(1_499);
    expect(bench.changes).toEqual([]);
    await bench.clock.advance(1);
    await bench.health.settled();
    expect(bench.changes).toEqual(['down: not connected']);
  });

  it('reports one change, however many failures and probes there are', async () => {
    const bench = new Bench();
    bench.health.probeNow();
    await bench.clock.advance(0);
    bench.failing();
    for (let failure = 0; failure < 50; failure += 1) {
      bench.health.failed('no answer in time');
      await bench.clock.advance(100);
    }
    bench.passing();
    await bench.clock.advance(1_000);
    expect(bench.changes).toEqual([
      'up: the store answers',
      'down: no answer in time',
      'up: the store answers again, after 5250 ms',
    ]);
  });

  it('keeps probing while down, however often other operations fail', async () => {
    const bench = new Bench();
    bench.failing();
    bench.health.failed('ECONNREFUSED');
    for (let failure = 0; failure < 100; failure += 1) {
      bench.health.failed('ECONNREFUSED');
      await bench.clock.advance(10);
    }
    expect(bench.probes).toBe(4);
  });

  it('stays down while the probe fails although something else works', async () => {
    const bench = new Bench();
    bench.failing();
    bench.health.probeNow();
    await bench.clock.advance(5_000);
    expect(bench.health.up).toBe(false);
    expect(bench.changes).toEqual(['down: READONLY']);
  });

  it('probes again at once when a connection came up during a probe', async () => {
    const bench = new Bench();
    let finish: () => void = () => undefined;
    bench.outcome = () =>
      new Promise((_resolve, reject) => (finish = () => reject(new Error('Connection is closed.'))));
    bench.health.probeNow();
    await bench.clock.advance(0);
    bench.health.probeNow();
    bench.passing();
    finish();
    await bench.clock.advance(0);
    await bench.clock.advance(0);
    expect(bench.health.up).toBe(true);
  });

  it('leaves no timer and reports nothing once it is closed', async () => {
    const bench = new Bench();
    bench.health.start(1_500);
    bench.health.close();
    bench.health.failed('the connection was closed');
    bench.health.probeNow();
    await bench.clock.advance(10_000);
    await bench.health.settled();
    expect(bench.clock.pendingTasks).toBe(0);
    expect(bench.changes).toEqual([]);
  });
});
