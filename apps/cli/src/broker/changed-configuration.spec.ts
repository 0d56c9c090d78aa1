import { changedConfiguration, configurationTrouble } from './changed-configuration.js';

describe('what status says of changed files', () => {
  it.each([
    ['nothing of a replica that says nothing', undefined, []],
    [
      'since when they are refused, and by how many faults',
      { refusedSince: '2026-11-22T22:05:27.103Z', faults: 1 },
      [
        'Configuration: a change is refused since 2026-11-22 22:05:27 UTC (1 fault); the one before is in force (runbook: config-reload-failed).',
      ],
    ],
    [
      'what takes effect with the next start',
      { awaitingRestart: ['http.port', 'store'] },
      [
        'Configuration: changed, and in force with the next start: http.port, store. Nothing to do tonight: restart in office hours (runbook: config-reload-failed).',
      ],
    ],
    ['nothing of what it does not know', { refusedSince: 1, awaitingRestart: 'x' }, []],
  ])('is %s', (_name, answered, lines) => {
    expect(configurationTrouble(changedConfiguration(answered))).toEqual(lines);
  });
});
