import { changedConfiguration, configurationTrouble } from './changed-configuration.js';

describe('what status says of changed files', () => {
  it.each<[string, unknown, string[]]>([
    ['nothing of a replica that says nothing', undefined, []],
    [
      'since when they are refused, and by how many faults',
      { refusedSince: '2026-11-22T22:05:27.103Z', faults: 1 },
      [
        'Configuration: a change has been refused since 2026-11-22 22:05:27 UTC (1 fault); the previous configuration is in force (runbook: config-reload-failed).',
      ],
    ],
    [
      'where the only fault is',
      { refusedSince: '2026-11-22T22:05:27.103Z', faults: 1, firstFault: 'http.tls.certFile' },
      [expect.stringContaining('UTC (1 fault: http.tls.certFile); the previous configuration')],
    ],
    [
      'where the first of several faults is',
      { refusedSince: '2026-11-22T22:05:27.103Z', faults: 3, firstFault: 'log.level' },
      [expect.stringContaining('UTC (3 faults, the first: log.level); the previous configuration')],
    ],
    [
      'what takes effect with the next start, of a broker that says no more',
      { awaitingRestart: ['http.port', 'store'] },
      ['Configuration: changed, to take effect with the next start: http.port, store (runbook: config-reload-failed).'],
    ],
    [
      'what the broker says is to be done about that',
      { awaitingRestart: ['store'], advice: 'it may be the cure: restart one replica', runbook: 'store-down' },
      [
        'Configuration: changed, to take effect with the next start: store. It may be the cure: restart one replica (runbook: store-down).',
      ],
    ],
    [
      'both, each with its runbook',
      {
        refusedSince: '2026-11-22T22:05:27.103Z',
        awaitingRestart: ['store'],
        advice: 'correct it',
        runbook: 'store-down',
      },
      [
        expect.stringMatching(/a change has been refused since .* \(runbook: config-reload-failed\)\.$/),
        'Configuration: changed, to take effect with the next start: store. Correct it (runbook: store-down).',
      ],
    ],
    ['nothing of what it does not know', { refusedSince: 1, awaitingRestart: 'x', advice: 1, runbook: {} }, []],
  ])('is %s', (...[, answered, lines]) => {
    expect(configurationTrouble(changedConfiguration(answered))).toEqual(lines);
  });

  it('names the runbook of a change that is refused for programs, too', () => {
    expect(changedConfiguration({ refusedSince: '2026-11-22T22:05:27.103Z' })).toMatchObject({
      runbook: 'config-reload-failed',
    });
  });
});
