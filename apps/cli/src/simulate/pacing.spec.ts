import { instantFromEpochMs } from '#libs/clock';
import type { CreateCallBudget, CreateCallWindow } from '#libs/session';
import { someSettings } from '#libs/testing';
import { sparingChanges, sparingWithMoreCalls } from './pacing.js';
import type { PlayedRun } from './trials.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const ofDay = (calls: number): CreateCallWindow => ({ calls, perMs: DAY_MS });
const single = (minutes: number): CreateCallWindow => ({ calls: 1, perMs: minutes * MINUTE_MS });

const run = (budget: CreateCallBudget, hours: number, outageMinutes: number): PlayedRun => ({
  setup: {
    ...{ merchant: 'shop', startsAt: instantFromEpochMs(0), replicas: 1, durationMs: DAY_MS, seed: 1 },
    settings: someSettings({ budget }),
    behaviour: {
      ...{ lifetimeMs: hours * HOUR_MS, outageMs: outageMinutes * MINUTE_MS },
      ...{ latencyMs: 300, failureShare: 0 },
    },
  },
  figures: {} as PlayedRun['figures'],
});

const budgetsOf = (changes: ReturnType<typeof sparingChanges>): readonly CreateCallBudget[] =>
  changes.map(([change]) => (change?.of === 'budget' ? change.windows : []));

const spared = (calls: number, hours: number, outageMinutes: number): readonly CreateCallBudget[] =>
  budgetsOf(sparingChanges(run([ofDay(calls)], hours, outageMinutes), [undefined]));

describe('single calls for a small budget', () => {
  it('are as far apart as leaves one call over, or none if that has to do', () => {
    // Sessions of eight hours take four a day.
    expect(spared(6, 8, 20)).toEqual([[ofDay(6), single(30)]]);
    expect(spared(7, 8, 20)).toEqual([[ofDay(7), single(15)]]);
    expect(spared(5, 8, 20)).toEqual([[ofDay(5), single(30)]]);
    expect(spared(5, 8, 60)).toEqual([[ofDay(5), single(90)]]);
  });

  it('are none where the next one would come after the session has ended, or where the schedule leaves no call', () => {
    expect(spared(5, 8, 94)).toEqual([]);
    expect(spared(4, 8, 20)).toEqual([]);
  });

  it('are none where there are calls enough for the usual paces', () => {
    expect(spared(20, 8, 20)).toEqual([]);
  });

  it('keep to the windows that are set', () => {
    const windows = [ofDay(6), single(30)];
    expect(budgetsOf(sparingChanges(run(windows, 8, 20), [undefined]))).toEqual([]);
  });

  it('need few calls more where the schedule leaves none, and one of them is over', () => {
    expect(budgetsOf(sparingWithMoreCalls(run([ofDay(4)], 8, 60), [undefined]))).toEqual([[ofDay(6), single(90)]]);
    expect(budgetsOf(sparingWithMoreCalls(run([ofDay(20)], 8, 20), [undefined]))).toEqual([]);
  });
});
