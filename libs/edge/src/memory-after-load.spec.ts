import { instantFromEpochMs, VirtualClock } from '#libs/clock';
import { MemoryAfterLoad } from './memory-after-load.js';

const MIB = 1_048_576;
const MINUTE_MS = 60_000;

describe('memory after load', () => {
  let clock: VirtualClock;
  let residentMib: number;
  let busyShare: number;
  let busyMs: number;
  let kept: number[];
  let memory: MemoryAfterLoad;

  beforeEach(() => {
    clock = new VirtualClock(instantFromEpochMs(0));
    [residentMib, busyShare, busyMs, kept] = [110, 0, 0, []];
    let askedAtMs = clock.monotonicMs();
    const usage = () => {
      busyMs += (clock.monotonicMs() - askedAtMs) * busyShare;
      askedAtMs = clock.monotonicMs();
      return { residentBytes: residentMib * MIB, processorMs: busyMs };
    };
    const giveBack = (): void => {
      kept.push(residentMib);
      residentMib -= 25;
    };
    memory = new MemoryAfterLoad({ clock, usage, giveBack });
  });

  afterEach(() => memory.close());

  it('is given back within a minute of the end of the load', async () => {
    [residentMib, busyShare] = [139, 1];
    await clock.advance(5 * MINUTE_MS);
    expect(kept).toEqual([]);
    busyShare = 0.01;
    await clock.advance(MINUTE_MS);
    expect(kept).toEqual([139]);
  });

  it('is left alone where little was left behind', async () => {
    residentMib = 125;
    await clock.advance(10 * MINUTE_MS);
    expect(kept).toEqual([]);
  });

  it('is left alone while there is something to do', async () => {
    [residentMib, busyShare] = [300, 0.03];
    await clock.advance(10 * MINUTE_MS);
    expect(kept).toEqual([]);
  });

  it('is given back every five minutes at most, however often load comes and goes', async () => {
    for (let minute = 0; minute < 10; minute += 1) {
      [residentMib, busyShare] = [150, 1];
      await clock.advance(MINUTE_MS / 2);
      busyShare = 0;
      await clock.advance(MINUTE_MS / 2);
    }
    expect(kept).toHaveLength(2);
  });

  it('is not asked for again where a collection has freed nothing', async () => {
    residentMib = 400;
    await clock.advance(MINUTE_MS);
    residentMib = 390;
    await clock.advance(30 * MINUTE_MS);
    expect(kept).toEqual([400]);
  });

  it('is not looked at any more once it is closed', async () => {
    memory.close();
    residentMib = 400;
    await clock.advance(10 * MINUTE_MS);
    expect(kept).toEqual([]);
  });
});
