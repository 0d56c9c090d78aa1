import { configurationNotice } from './configuration-notice.js';
import { timeText } from './wording.js';

describe('the notice of the configuration', () => {
  it('is not there while the files say what is in force', () => {
    expect(configurationNotice({})).toBeUndefined();
  });

  it('says since when a change is refused, how many faults it has, and where to go on', () => {
    expect(configurationNotice({ refusedChange: { since: 1_000, faults: 1 } })).toEqual({
      text: `Configuration: a change is refused since ${timeText(1_000)} (1 fault); the one before is in force.`,
      runbook: 'config-reload-failed',
    });
  });

  it('names what takes effect with the next start', () => {
    expect(configurationNotice({ awaitingRestart: ['http.port', 'store'], awaitingSince: 1_000 })).toEqual({
      text: `Configuration: changed since ${timeText(1_000)}, and in force with the next start: http.port, store. Nothing to do tonight: restart in office hours.`,
      runbook: 'config-reload-failed',
    });
  });
});
