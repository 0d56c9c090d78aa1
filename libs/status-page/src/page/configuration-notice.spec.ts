import { configurationNotice } from './configuration-notice.js';
import { timeText } from './wording.js';

describe('the notice of the configuration', () => {
  const answering = { condition: 'answers' } as const;
  const refusing = { condition: 'refuses' } as const;

  it('is not there while the files say what is in force', () => {
    expect(configurationNotice({}, answering)).toBeUndefined();
  });

  it('says since when a change is refused, how many faults it has, and where to go on', () => {
    expect(configurationNotice({ refusedChange: { since: 1_000, faults: 1 } }, answering)).toEqual({
      text: `Configuration: a change is refused since ${timeText(1_000)} (1 fault); the one before is in force.`,
      runbook: 'config-reload-failed',
    });
  });

  it('names what takes effect with the next start', () => {
    expect(configurationNotice({ awaitingRestart: ['http.port', 'store'], awaitingSince: 1_000 }, answering)).toEqual({
      text: `Configuration: changed since ${timeText(1_000)}, and in force with the next start: http.port, store. Nothing to do tonight: restart in office hours.`,
      runbook: 'config-reload-failed',
    });
  });

  it('says that a restart may be the cure where the store refuses and its settings wait', () => {
    expect(configurationNotice({ awaitingRestart: ['store'], awaitingSince: 1_000 }, refusing)).toEqual({
      text: `Configuration: changed since ${timeText(1_000)}, and in force with the next start: store. The new settings of the store may be what is missing: restart one replica.`,
      runbook: 'store-down',
    });
    expect(configurationNotice({ awaitingRestart: ['http.port'] }, refusing)?.text).toContain('Nothing to do tonight');
  });

  it('says so of a store that is silent, once doctor finds it with the settings that wait', () => {
    const silent = { condition: 'silent' } as const;
    expect(configurationNotice({ awaitingRestart: ['store'] }, silent)).toEqual({
      text: 'Configuration: changed, and in force with the next start: store. The new settings of the store may be what is missing: restart one replica once session-broker doctor is green.',
      runbook: 'store-down',
    });
    expect(configurationNotice({ awaitingRestart: ['http.port'] }, silent)?.text).toContain('Nothing to do tonight');
  });

  it('puts what is refused before that restart, since a replica would not start with it', () => {
    const replica = { refusedChange: { since: 1_000, faults: 1 }, awaitingRestart: ['store'] };
    const notice = configurationNotice(replica, refusing);
    expect(notice?.text).toMatch(/: correct what is refused, then restart one replica\.$/);
    expect(notice?.runbook).toBe('config-reload-failed');
  });
});
