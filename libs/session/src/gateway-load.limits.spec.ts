import { FakeClock } from '#libs/testing';
import type { GatewayFailureKind } from './gateway-failure.js';
import { GatewayLoad } from './gateway-load.js';

const clock = new FakeClock();

/** Enters `count` times. @returns who was let in so far, in order; it grows as time goes on */
function enter(load: GatewayLoad, count: number, gateway = 'bank'): number[] {
  const entered: number[] = [];
  for (let index = 0; index < count; index += 1) void load.enter(gateway).then(() => entered.push(index));
  return entered;
}

/** One call after the other. */
async function loadAfter(calls: number, failure?: GatewayFailureKind, load = new GatewayLoad()): Promise<GatewayLoad> {
  for (let call = 0; call < calls; call += 1) {
    await load.enter('bank');
    load.leave('bank', failure);
  }
  return load;
}

async function capacityOf(load: GatewayLoad): Promise<number> {
  const entered = enter(load, 40);
  await clock.settle();
  return entered.length;
}

describe('calls to one gateway', () => {
  const table: Readonly<Record<string, readonly [number, GatewayFailureKind | undefined, number]>> = {
    'are sixteen at once at first': [0, undefined, 16],
    'are no more after sixteen good ones': [16, undefined, 16],
    'are one more after a round of good ones': [17, undefined, 17],
    'are thirty-two in the end, however good': [2_000, undefined, 32],
    'are half as many after one that came too late': [1, 'timeout', 8],
    'are half as many after one that failed': [1, 'transient', 8],
    'are a quarter after two of them': [2, 'timeout', 4],
    'are one after four of them': [4, 'transient', 1],
    'are never less than one': [20, 'timeout', 1],
    'are as many after a refusal: the gateway keeps up': [40, 'refused', 16],
    'are as many after a revocation': [40, 'revoked', 16],
    'are as many after an answer that is no session': [40, 'invalid_response', 16],
    'are as many after our own doing': [40, 'aborted', 16],
  };

  it.each(Object.entries(table))('%s', async (_name, [calls, failure, capacity]) => {
    expect(await capacityOf(await loadAfter(calls, failure))).toBe(capacity);
  });

  it('are half of thirty-two after a long good time and one failure', async () => {
    const load = await loadAfter(1, 'timeout', await loadAfter(2_000));
    expect(await capacityOf(load)).toBe(16);
  });

  it('are two again after one failed gateway made one good answer', async () => {
    const load = await loadAfter(1, undefined, await loadAfter(20, 'timeout'));
    expect(await capacityOf(load)).toBe(2);
  });

  it('have room until as many are under way as may be', async () => {
    const load = new GatewayLoad();
    enter(load, 15);
    expect(load.hasRoom('bank')).toBe(true);
    enter(load, 1);
    expect(load.hasRoom('bank')).toBe(false);
    enter(load, 3);
    expect(load.hasRoom('bank')).toBe(false);
  });

  it('have room for whole calls only', async () => {
    const load = await loadAfter(8);
    enter(load, 16);
    expect(load.hasRoom('bank')).toBe(false);
  });

  it('are let in by the order of their coming, one for each that leaves', async () => {
    const load = new GatewayLoad();
    const entered = enter(load, 20);
    await clock.settle();
    expect(entered).toHaveLength(16);
    for (const last of [16, 17]) {
      load.leave('bank', 'refused');
      await clock.settle();
      expect(entered.at(-1)).toBe(last);
      expect(entered).toHaveLength(last + 1);
    }
  });

  it('are let in as many at once as a better gateway takes', async () => {
    const load = await loadAfter(20, 'timeout');
    const entered = enter(load, 5);
    await clock.settle();
    expect(entered).toEqual([0]);
    load.leave('bank');
    await clock.settle();
    expect(entered).toEqual([0, 1, 2]);
  });

  it('are let in by none that leaves while a worse gateway has too many', async () => {
    const load = new GatewayLoad();
    const entered = enter(load, 18);
    load.leave('bank', 'timeout');
    for (let left = 0; left < 7; left += 1) load.leave('bank', 'refused');
    await clock.settle();
    expect(entered).toHaveLength(16);
    load.leave('bank', 'refused');
    await clock.settle();
    expect(entered).toHaveLength(17);
  });

  it('leave room when nobody waits', async () => {
    const load = new GatewayLoad();
    enter(load, 16);
    load.leave('bank', 'refused');
    expect(load.hasRoom('bank')).toBe(true);
    expect(await capacityOf(load)).toBe(1);
  });

  it('count for their own gateway', async () => {
    const load = await loadAfter(20, 'timeout');
    enter(load, 1);
    expect([load.hasRoom('bank'), load.hasRoom('other bank')]).toEqual([false, true]);
    const entered = enter(load, 20, 'other bank');
    await clock.settle();
    expect(entered).toHaveLength(16);
  });
});
