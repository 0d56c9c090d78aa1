import { humanLogLine } from './log-line.js';

const line = (entry: object): string => JSON.stringify(entry);

describe('a log line for people', () => {
  it('shows time, service, message and the facts', () => {
    const entry = { level: 'info', time: '2026-03-01T12:00:01.123Z', name: 'broker', msg: 'renewed', merchant: 'shop' };
    expect(humanLogLine('broker', line({ ...entry, generation: 7 }))).toBe(
      '12:00:01 broker   renewed (merchant shop, generation 7)',
    );
  });

  it('marks what is not merely information', () => {
    const entry = { level: 'warn', time: '2026-03-01T12:00:01.123Z', msg: 'slow' };
    expect(humanLogLine('sandbox', line(entry))).toBe('12:00:01 sandbox  WARN slow');
  });

  it('shows each fault of a configuration that is refused, with its line', () => {
    const faults = [
      { path: 'log.level', problem: 'must be one of debug, info', line: 3 },
      { path: '(file)', problem: 'does not exist' },
    ];
    const entry = { level: 'error', time: '2026-03-01T12:00:01Z', msg: 'not taken', faults };
    expect(humanLogLine('broker', line(entry))).toBe(
      '12:00:01 broker   ERROR not taken: log.level (line 3) must be one of debug, info; (file) does not exist',
    );
    expect(humanLogLine('broker', line({ ...entry, faults: [null, 1, {}] }))).toBe('12:00:01 broker   ERROR not taken');
  });

  it.each(['not json', '{"half":', '"text"', 'null', '[1'])('passes on what is not a log entry: %s', (text) => {
    expect(humanLogLine('broker', text)).toContain(text);
  });
});
