import { changedConfiguration, configurationTrouble } from './changed-configuration.js';

describe('what status says of changed files', () => {
  it.each<[string, unknown, string[], string?]>([
    ['nothing of a replica that says nothing', undefined, []],
    [
      'since when they are refused, and by how many faults',
      { refusedSince: '2026-11-22T22:05:27.103Z', faults: 1 },
      [
        'Configuration: a change has been refused since 2026-11-22 22:05:27 UTC (1 fault); the one before is in force (runbook: config-reload-failed).',
      ],
    ],
    [
      'what takes effect with the next start',
      { awaitingRestart: ['http.port', 'store'] },
      [
        'Configuration: changed, and in force with the next start: http.port, store. Nothing to do tonight: restart in office hours (runbook: config-reload-failed).',
      ],
    ],
    [
      'that a restart may be the cure where the store refuses and its settings wait',
      { awaitingRestart: ['http.port', 'store'] },
      [
        'Configuration: changed, and in force with the next start: http.port, store. The new settings of the store may be what is missing: restart one replica (runbook: store-down).',
      ],
      'refuses',
    ],
    [
      'that a restart may be the cure where the store is silent and doctor finds it with the settings that wait',
      { awaitingRestart: ['store'] },
      [
        'Configuration: changed, and in force with the next start: store. The new settings of the store may be what is missing: restart one replica once session-broker doctor is green (runbook: store-down).',
      ],
      'silent',
    ],
    [
      'that what is refused comes before that restart',
      { refusedSince: '2026-11-22T22:05:27.103Z', awaitingRestart: ['store'] },
      [
        expect.stringContaining('a change has been refused since'),
        'Configuration: changed, and in force with the next start: store. The new settings of the store may be what is missing: correct what is refused, then restart one replica (runbook: store-down).',
      ],
      'refuses',
    ],
    [
      'that other settings can wait, whatever the store does',
      { awaitingRestart: ['http.port'] },
      [expect.stringContaining('Nothing to do tonight')],
      'refuses',
    ],
    [
      'that settings of a store that answers can wait',
      { awaitingRestart: ['store'] },
      [expect.stringContaining('Nothing to do tonight')],
      'answers',
    ],
    ['nothing of what it does not know', { refusedSince: 1, awaitingRestart: 'x' }, []],
  ])('is %s', (...[, answered, lines, store]) => {
    expect(configurationTrouble(changedConfiguration(answered), store)).toEqual(lines);
  });
});
