import { configurationNotice } from './configuration-notice.js';

describe('the notice of the configuration', () => {
  const now = 90_000;
  const refusedChange = { since: 1_000, faults: 1, text: '1 fault: http.tls.certFile' };
  const canWait = { text: 'nothing to do tonight: restart in office hours', runbook: 'config-reload-failed' };
  const cure = { text: 'the new settings may be what is missing: restart one replica', runbook: 'store-down' };

  it('is not there while the files say what is in force', () => {
    expect(configurationNotice({}, now)).toBeUndefined();
  });

  it('says since when a change is refused, how many faults it has, which is the first, and where to go on', () => {
    expect(configurationNotice({ refusedChange }, now)).toEqual({
      text: 'Configuration: a change has been refused since 00:00:01 UTC (1 fault: http.tls.certFile); the previous configuration is in force.',
      runbook: 'config-reload-failed',
    });
  });

  it('names what takes effect with the next start, with what the replica says is to be done about it', () => {
    const waiting = { awaitingRestart: ['http.port', 'store'], awaitingSince: 1_000 };
    expect(configurationNotice({ ...waiting, restartAdvice: canWait }, now)).toEqual({
      text: 'Configuration: changed at 00:00:01 UTC, to take effect with the next start: http.port, store. Nothing to do tonight: restart in office hours.',
      runbook: 'config-reload-failed',
    });
    expect(configurationNotice({ awaitingRestart: ['store'], restartAdvice: cure }, now)).toEqual({
      text: 'Configuration: changed, to take effect with the next start: store. The new settings may be what is missing: restart one replica.',
      runbook: 'store-down',
    });
  });

  it('leads to what is refused before that restart, since a replica would not start with it', () => {
    const notice = configurationNotice({ refusedChange, awaitingRestart: ['store'], restartAdvice: cure }, now);
    expect(notice?.text).toMatch(/ is in force\.\nConfiguration: changed, /);
    expect(notice?.runbook).toBe('config-reload-failed');
  });
});
