import { Writable } from 'node:stream';
import { FakeClock } from '#libs/testing';
import { StandardOutput } from './standard-output.js';

/** A pipe whose reader stalls and continues when the test says so. */
class Pipe extends Writable {
  text = '';
  #isStalled = false;
  #goOn: (() => void) | undefined;

  constructor() {
    super({ decodeStrings: false });
  }

  stall(): void {
    this.#isStalled = true;
  }

  read(): void {
    this.#isStalled = false;
    this.#goOn?.();
  }

  override _write(line: string, _encoding: string, done: () => void): void {
    this.text += line;
    if (this.#isStalled) this.#goOn = done;
    else done();
  }
}

describe('standard output', () => {
  const line = `${'x'.repeat(1_023)}\n`;
  let pipe: Pipe;
  let lost: number[];
  let output: StandardOutput;

  beforeEach(() => {
    pipe = new Pipe();
    lost = [];
    output = new StandardOutput(pipe, (count) => lost.push(count));
  });

  it('has each line at once while somebody reads, and up to 4 MiB for a reader that has stalled, and says how many lines were lost beyond that', async () => {
    output.write(line);
    expect(pipe.text).toBe(line);
    pipe.text = '';
    pipe.stall();
    for (let lines = 0; lines < 5_000; lines += 1) output.write(line);
    expect([pipe.writableLength, lost]).toEqual([4_097 * 1_024, []]);
    expect(output.lostLines).toBe(5_000 - 4_097);
    const drained = new Promise((resolve) => pipe.once('drain', resolve));
    pipe.read();
    await drained;
    expect([pipe.text.length, lost]).toEqual([4_097 * 1_024, [5_000 - 4_097]]);
    output.write(line);
    expect(pipe.text.length).toBe(4_098 * 1_024);
    expect(output.lostLines).toBe(5_000 - 4_097);
  });

  it('survives a reader that has gone', () => {
    pipe.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    expect(() => output.write(line)).not.toThrow();
  });

  it('waits at its end for what is not read yet, and no longer than it is told to', async () => {
    const clock = new FakeClock();
    await output.written(clock, 1_000);
    pipe.stall();
    output.write(line);
    let ended = false;
    const end = output.written(clock, 1_000).then(() => (ended = true));
    await clock.advance(999);
    expect(ended).toBe(false);
    await clock.advance(1);
    await end;
    expect([pipe.listenerCount('drain'), clock.pendingTasks]).toEqual([1, 0]);
  });
});
