import type { SessionStore } from '#libs/session';
import type { Logger } from '#libs/telemetry';
import { FakeClock } from '#libs/testing';
import { restartAdvice } from './restart-advice.js';
import { logStoreState, type StoreCondition, StoreState, timed } from './store.js';

describe('the state of the store', () => {
  it('is not known until it has answered, refused or been silent, and then since when and why', async () => {
    const clock = new FakeClock();
    const state = new StoreState(clock);
    expect([state.current, state.wasReached]).toEqual([undefined, false]);
    state.note('refuses', 'NOAUTH');
    const since = clock.now();
    await clock.advance(1_000);
    state.note('refuses', 'NOPERM');
    expect(state.current).toEqual({ condition: 'refuses', since, reason: 'NOPERM' });
    expect(state.wasReached).toBe(false);
  });

  it('has not worked since it stopped to answer, however it fails meanwhile, and answers since it does again', async () => {
    const clock = new FakeClock();
    const state = new StoreState(clock);
    state.note('answers', 'the store answers');
    await clock.advance(1_000);
    state.note('silent', 'ECONNREFUSED');
    const since = clock.now();
    await clock.advance(1_000);
    state.note('refuses', 'READONLY');
    expect(state.current).toEqual({ condition: 'refuses', since, reason: 'READONLY' });
    await clock.advance(1_000);
    state.note('answers', 'the store answers');
    expect(state.current).toMatchObject({ since: clock.now() });
    expect(state.wasReached).toBe(true);
  });
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
  const told = (condition: StoreCondition, detail: string): readonly unknown[] => {
    const lines: unknown[] = [];
    const at = (level: string) => (fields: object, message: string) => lines.push([level, fields, message]);
    logStoreState({ info: at('info'), warn: at('warn'), error: at('error') } as unknown as Logger, condition, {
      detail,
      address: 'redis:6379',
    });
    return lines;
  };

  it('tells an outage, which passes, from a refusal, which a person has to mend, with its reason and runbook', () => {
    expect(told('silent', 'ECONNREFUSED')).toEqual([
      [
        'warn',
        { detail: 'ECONNREFUSED', address: 'redis:6379', runbook: 'store-down' },
        'the store does not answer; sessions in memory go on being served',
      ],
    ]);
    expect(told('refuses', 'NOPERM')).toEqual([
      [
        'error',
        { detail: 'NOPERM', address: 'redis:6379', runbook: 'store-down' },
        expect.stringMatching(/^the store refuses: NOPERM; /),
      ],
    ]);
    expect(told('refuses', 'SELF_SIGNED_CERT_IN_CHAIN')).toMatchObject([
      ['error', {}, expect.stringContaining('SELF_SIGNED_CERT_IN_CHAIN (store.tls.caFile has to name the authority')],
    ]);
    expect(told('answers', 'again, after 20 ms')).toEqual([
      ['info', { detail: 'again, after 20 ms', address: 'redis:6379' }, 'the store answers'],
    ]);
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
