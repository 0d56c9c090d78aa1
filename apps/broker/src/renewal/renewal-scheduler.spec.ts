import { jest } from '@jest/globals';
import { ScheduleModule } from '@nestjs/schedule';
import { Test, type TestingModule } from '@nestjs/testing';
import { SessionReplica } from '#libs/session';
import { FakeClock } from '#libs/testing';
import { RenewalScheduler } from './renewal-scheduler.js';
import { StoreState } from './store.js';

describe('the scheduler of renewals', () => {
  let calls: string[];
  let app: TestingModule;
  let scheduler: RenewalScheduler;
  let store: StoreState;

  beforeEach(async () => {
    jest.useFakeTimers();
    calls = [];
    store = new StoreState(new FakeClock());
    const note = (call: string) => (): Promise<void> => Promise.resolve(void calls.push(call));
    const parts = { tick: note('tick'), resync: note('resync'), storeRefuses: note('storeRefuses') };
    const replica = { provide: SessionReplica, useValue: parts };
    app = await Test.createTestingModule({
      imports: [ScheduleModule.forRoot()],
      providers: [RenewalScheduler, replica, { provide: StoreState, useValue: store }],
    }).compile();
    scheduler = await app.init().then(() => app.get(RenewalScheduler));
  });
  afterEach(async () => {
    await app.close();
    jest.useRealTimers();
  });

  it('has the replica do nothing before the start, look then, and every second from then on', async () => {
    await jest.advanceTimersByTimeAsync(60_000);
    store.note('answers', 'the store answers');
    expect(calls).toEqual([]);
    scheduler.start();
    expect(calls).toEqual(['tick']);
    await jest.advanceTimersByTimeAsync(3_000);
    expect(calls).toHaveLength(4);
  });

  it('tells it that the store refuses, also where it has done so since before the start', () => {
    store.note('refuses', 'OOM');
    expect(calls).toEqual([]);
    scheduler.start();
    store.note('answers', 'the store answers');
    store.note('refuses', 'READONLY');
    expect(calls).toEqual(['storeRefuses', 'tick', 'resync', 'storeRefuses']);
  });

  it('leaves it alone when the app is closed', async () => {
    scheduler.start();
    await app.close();
    await jest.advanceTimersByTimeAsync(60_000);
    expect(calls).toEqual(['tick']);
  });
});
