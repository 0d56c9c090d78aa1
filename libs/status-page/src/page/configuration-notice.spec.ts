import { configurationNotice } from './configuration-notice.js';

describe('the notice of the configuration', () => {
  const answering = { condition: 'answers' } as const;
  const now = 90_000;
  const refusing = { condition: 'refuses' } as const;

  it('is not there while the files say what is in force', () => {
    expect(configurationNotice({}, answering, now)).toBeUndefined();
  });

  it('says since when a change is refused, how many faults it has, and where to go on', () => {
    expect(configurationNotice({ refusedChange: { since: 1_000, faults: 1 } }, answering, now)).toEqual({
      text: 'Configuration: a change has been refused since 00:00:01 UTC (1 fault); the one before is in force.',
      runbook: 'config-reload-failed',
    });
  });

  it('names what takes effect with the next start', () => {
    expect(
      configurationNotice({ awaitingRestart: ['http.port', 'store'], awaitingSince: 1_000 }, answering, now),
    ).toEqual({
      text: 'Configuration: changed at 00:00:01 UTC, and in force with the next start: http.port, store. Nothing to do tonight: restart in office hours.',
      runbook: 'config-reload-failed',
    });
  });

  it('says that a restart may be the cure where the store refuses and its settings wait', () => {
    expect(configurationNotice({ awaitingRestart: ['store'], awaitingSince: 1_000 }, refusing, now)).toEqual({
      text: 'Configuration: changed at 00:00:01 UTC, and in force with the next start: store. The new settings of the store may be what is missing: restart one replica.',
      runbook: 'store-down',
    });
    expect(configurationNotice({ awaitingRestart: ['http.port'] }, refusing, now)?.text).toContain(
      'Nothing to do tonight',
    );
  });

  it('says so of a store that is silent, once doctor finds it with the settings that wait', () => {
    const silent = { condition: 'silent' } as const;
    expect(configurationNotice({ awaitingRestart: ['store'] }, silent, now)).toEqual({
      text: 'Configuration: changed, and in force with the next start: store. The new settings of the store may be what is missing: restart one replica once session-broker doctor is green.',
      runbook: 'store-down',
    });
    expect(configurationNotice({ awaitingRestart: ['http.port'] }, silent, now)?.text).toContain(
      'Nothing to do tonight',
    );
  });

  it('puts what is refused before that restart, since a replica would not start with it', () => {
    const replica = { refusedChange: { since: 1_000, faults: 1 }, awaitingRestart: ['store'] };
    const notice = configurationNotice(replica, refusing, now);
    expect(notice?.text).toMatch(/: correct what is refused, then restart one replica\.$/);
    expect(notice?.runbook).toBe('config-reload-failed');
  });
});
