import { FakeClock } from '#libs/testing';
import type { Logger } from '#libs/telemetry';
import { LastReading } from '../configuration/configuration-in-force.js';
import { adviseRestart, restartAdvice } from './restart-advice.js';
import { StoreState } from './store.js';

describe('what to do about settings that wait for the next start', () => {
  const store = { awaitingRestart: ['http.port', 'store'], refused: undefined };
  const canWait = { text: 'nothing to do tonight: restart in office hours', runbook: 'config-reload-failed' };
  const triedFirst = { ...canWait, text: `${canWait.text}, once session-broker doctor is green` };
  const cure = (rest: string): object => ({
    text: `the new settings of the store may be what is missing: ${rest}`,
    runbook: 'store-down',
  });

  it('is nothing where none wait, and nothing tonight where a restart mends nothing, after doctor where the store waits', () => {
    expect(restartAdvice({ awaitingRestart: [], refused: undefined }, 'refuses')).toBeUndefined();
    for (const condition of ['answers', undefined] as const)
      expect(restartAdvice(store, condition)).toEqual(triedFirst);
    expect(restartAdvice({ ...store, awaitingRestart: ['http.port'] }, 'silent')).toEqual(canWait);
  });

  it('is a restart where the store cannot be used, after doctor or what is refused', () => {
    expect(restartAdvice(store, 'refuses')).toEqual(cure('restart one replica'));
    expect(restartAdvice(store, 'silent')).toEqual(cure('restart one replica once session-broker doctor is green'));
    const refused = { since: new FakeClock().now(), faults: 1 };
    expect(restartAdvice({ ...store, refused }, 'refuses')).toEqual(
      cure('correct what is refused, then restart one replica'),
    );
  });
});

describe('the advice to restart a replica', () => {
  const clock = new FakeClock();
  let state: StoreState;
  let lastReading: LastReading;
  let lines: unknown[];

  beforeEach(() => {
    state = new StoreState(clock);
    lastReading = new LastReading();
    lines = [];
    const warn = (fields: object, message: string): unknown => lines.push([fields, message]);
    adviseRestart({ state, lastReading, logger: { warn } as unknown as Logger });
  });

  const advice = [
    { detail: 'WRONGPASS', runbook: 'store-down' },
    'the new settings of the store may be what is missing: restart one replica',
  ];
  const waits = (...settings: readonly string[]): void => lastReading.noteTaken(settings, clock.now());

  it('is given once when the store refuses after its settings have changed', () => {
    waits('store');
    state.note('refuses', 'WRONGPASS');
    state.note('refuses', 'WRONGPASS');
    waits('http.port', 'store');
    expect(lines).toEqual([advice]);
  });

  it('is given when the settings of a store change that refuses already', () => {
    state.note('refuses', 'WRONGPASS');
    waits('http.port');
    expect(lines).toEqual([]);
    waits('http.port', 'store');
    expect(lines).toEqual([advice]);
  });

  it('is given of a store that is silent, too, for which doctor says whether its new settings are the cure', () => {
    waits('http.port', 'store');
    const silent = [
      { detail: 'ECONNREFUSED', runbook: 'store-down' },
      'the new settings of the store may be what is missing: restart one replica once session-broker doctor is green',
    ];
    state.note('silent', 'ECONNREFUSED');
    state.note('silent', 'ETIMEDOUT');
    expect(lines).toEqual([silent]);
    state.note('refuses', 'WRONGPASS');
    expect(lines).toEqual([silent, advice]);
    waits('http.port');
    state.note('silent', 'ECONNREFUSED');
    expect(lines).toHaveLength(2);
  });

  it('is given again when the store has answered in between', () => {
    waits('store');
    for (const condition of ['refuses', 'answers', 'refuses'] as const) state.note(condition, 'WRONGPASS');
    expect(lines).toEqual([advice, advice]);
  });
});
