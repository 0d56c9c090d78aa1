import { FakeClock } from '#libs/testing';
import { type GateParts, WorkGate } from './work-gate.js';

class Work {
  readonly done: Promise<string>;
  started = false;
  finish: (result: string) => void = () => undefined;
  fail: (error: Error) => void = () => undefined;

  constructor(gate: WorkGate, signal = new AbortController().signal) {
    this.done = gate.run(signal, () => {
      this.started = true;
      return new Promise((resolve, reject) => {
        this.finish = resolve;
        this.fail = reject;
      });
    });
    // Checked later, or not at all.
    this.done.catch(() => 'refused');
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const gateOf = (parts: Pick<GateParts, 'inFlight' | 'waiting'> & Partial<GateParts>): WorkGate =>
  new WorkGate({ maxMs: 10_000, clock: new FakeClock(), ...parts });

describe('WorkGate', () => {
  it('runs as much at once as it may, and the rest in the order in which it came, whether work succeeds or fails', async () => {
    const gate = gateOf({ inFlight: 2, waiting: 2 });
    const works = Array.from({ length: 4 }, () => new Work(gate));
    expect(works.map(({ started }) => started)).toEqual([true, true, false, false]);
    works[1]?.finish('second');
    expect(await works[1]?.done).toBe('second');
    await settle();
    expect(works.map(({ started }) => started)).toEqual([true, true, true, false]);
    works[0]?.fail(new Error('broken'));
    await expect(works[0]?.done).rejects.toThrow('broken');
    await settle();
    expect(works[3]?.started).toBe(true);
  });

  it('turns away what cannot wait, and says when to come again', async () => {
    const gate = gateOf({ inFlight: 1, waiting: 1 });
    const [running] = [new Work(gate), new Work(gate)];
    await expect(new Work(gate).done).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 1_000 });
    running?.finish('done');
    await running?.done;
    await settle();
    const next = new Work(gate);
    expect(await Promise.race([next.done.catch(() => 'refused'), settle().then(() => 'waits')])).toBe('waits');
  });

  it('drops what waits when nobody wants it any more, and lets the one behind it in', async () => {
    const gate = gateOf({ inFlight: 1, waiting: 2 });
    const gone = new AbortController();
    const running = new Work(gate);
    const dropped = new Work(gate, gone.signal);
    const behind = new Work(gate);
    gone.abort();
    await expect(dropped.done).rejects.toMatchObject({ code: 'shutting_down' });
    running.finish('done');
    await running.done;
    await settle();
    expect([dropped.started, behind.started]).toEqual([false, true]);
  });

  it('gives the place of work that hangs away, and leaves no timer of work that ends', async () => {
    const clock = new FakeClock();
    const gate = gateOf({ inFlight: 1, waiting: 1, clock });
    const [hung, next] = [new Work(gate), new Work(gate)];
    await clock.advance(9_999);
    expect(next.started).toBe(false);
    await clock.advance(1);
    await expect(hung.done).rejects.toMatchObject({ code: 'overloaded', retryAfterMs: 1_000 });
    await settle();
    expect(next.started).toBe(true);
    next.finish('done');
    expect(await next.done).toBe('done');
    hung.finish('too late');
    expect(clock.pendingTasks).toBe(0);
  });
});
