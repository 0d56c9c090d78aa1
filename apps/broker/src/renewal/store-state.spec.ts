import type { SessionStore } from '#libs/session';
import type { Logger } from '#libs/telemetry';
import { FakeClock } from '#libs/testing';
import { restartAdvice } from './restart-advice.js';
import { logStoreState, type StoreCondition, StoreState, timed } from './store.js';

it('the state of the store is not known until it was heard of, and tells since when it works or does not, and why', async () => {
  const clock = new FakeClock();
  const state = new StoreState(clock);
  const note = async (...told: Parameters<StoreState['note']>): Promise<unknown> => {
    state.note(...told);
    const now = clock.now();
    await clock.advance(1_000);
    return now;
  };
  expect([state.current, state.wasReached]).toEqual([undefined, false]);
  const start = await note('refuses', 'NOAUTH');
  await note('refuses', 'NOPERM');
  expect(state.current).toEqual({ condition: 'refuses', since: start, reason: 'NOPERM' });
  expect(state.wasReached).toBe(false);
  await note('answers', 'the store answers');
  const since = await note('silent', 'ECONNREFUSED');
  await note('refuses', 'READONLY');
  expect(state.current).toEqual({ condition: 'refuses', since, reason: 'READONLY' });
  const again = await note('answers', 'the store answers');
  expect(state.current).toMatchObject({ condition: 'answers', since: again });
  expect(state.wasReached).toBe(true);
});

it('tells how long each operation of the store takes, also if it fails', async () => {
  const clock = new FakeClock();
  const state = new StoreState(clock);
  const seen: unknown[] = [];
  state.onOperation = (...operation) => seen.push(operation);
  const slow = (): Promise<never> =>
    new Promise((_resolve, reject) => void clock.schedule(250, () => reject(new Error('no answer in time'))));
  const asked = timed({ read: slow } as unknown as SessionStore, { clock, state }).read([]);
  await Promise.all([expect(asked).rejects.toThrow('no answer in time'), clock.advance(250)]);
  expect(seen).toEqual([['read', 250]]);
});

describe('the log of the store', () => {
  it.each<[string, StoreCondition, detail: string, message: unknown]>([
    ['warn', 'silent', 'ECONNREFUSED', 'the store does not answer; sessions in memory go on being served'],
    ['error', 'refuses', 'NOPERM', expect.stringMatching(/^the store refuses: NOPERM; /)],
    [
      'error',
      'refuses',
      'SELF_SIGNED_CERT_IN_CHAIN',
      expect.stringContaining('SELF_SIGNED_CERT_IN_CHAIN (store.tls.caFile has to name the authority'),
    ],
    ['info', 'answers', 'again, after 20 ms', 'the store answers'],
  ])('tells by %s what a person has to mend, and what passes: %s, %s', (...[level, condition, detail, message]) => {
    const lines: unknown[] = [];
    const at = (of: string) => (fields: object, said: string) => lines.push([of, fields, said]);
    const logger = { info: at('info'), warn: at('warn'), error: at('error') } as unknown as Logger;
    logStoreState(logger, condition, { detail, address: 'redis:6379' });
    const runbook = condition === 'answers' ? {} : { runbook: 'store-down' };
    expect(lines).toEqual([[level, { detail, address: 'redis:6379', ...runbook }, message]]);
  });
});

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
