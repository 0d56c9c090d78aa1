import { FakeClock } from '#libs/testing';
import { restartAdvice } from './restart-advice.js';

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
