import { tellReading, type ToldReading } from './told-reading.js';

const NOTHING: ToldReading = {
  inForce: { added: [], settings: [] },
  waiting: { settings: [], change: { added: [], removed: [] }, runbook: 'page' },
  wasRefused: false,
};
const CHANGED = { added: ['kiosk'], settings: ['auth.tokens', 'log.level'] };
const WAITING = { settings: ['store'], change: { added: ['store'], removed: [] }, runbook: 'page' };

function told(reading: Partial<ToldReading>): unknown[] {
  const lines: unknown[] = [];
  const line =
    (level: string) =>
    (fields: object, message: string): void =>
      void lines.push([level, fields, message]);
  const logger = { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  tellReading(logger, { ...NOTHING, ...reading });
  return lines;
}

describe('changed files that were read', () => {
  it.each<[what: string, reading: Partial<ToldReading>, line: unknown[]]>([
    [
      'what came into force',
      { inForce: CHANGED, wasRefused: true },
      ['info', { added: 'kiosk', settings: 'auth.tokens, log.level' }, 'the changed configuration is in force'],
    ],
    [
      'what came into force, and what did not',
      { inForce: CHANGED, waiting: WAITING },
      [
        'warn',
        { added: 'kiosk', settings: 'auth.tokens, log.level', awaitingRestart: 'store', runbook: 'page' },
        'the changed configuration is in force, but for settings that take effect with the next start',
      ],
    ],
    [
      'that nothing did',
      { waiting: WAITING },
      [
        'warn',
        { awaitingRestart: 'store', runbook: 'page' },
        'these settings have changed and take effect with the next start',
      ],
    ],
    [
      'that nothing did, and that nothing is wrong any more',
      { waiting: WAITING, wasRefused: true },
      [
        'warn',
        { awaitingRestart: 'store', runbook: 'page' },
        'the configuration is right again; these settings have changed and take effect with the next start',
      ],
    ],
    [
      'that they are right again, beside what has been waiting for longer',
      { waiting: { ...WAITING, change: { added: [], removed: [] } }, wasRefused: true },
      ['info', { awaitingRestart: 'store' }, 'the configuration is right again; nothing has changed'],
    ],
    ['that they say the same', {}, ['debug', {}, 'the configuration was read again and says the same']],
  ])('have one line, which says %s', (_what, reading, line) => {
    expect(told(reading)).toEqual([line]);
  });

  it('have one line where settings are put back that waited, and nothing else has changed', () => {
    const waiting = { settings: [], change: { added: [], removed: ['store'] }, runbook: 'page' };
    expect(told({ waiting }).filter((line) => (line as string[])[0] !== 'debug')).toEqual([
      ['info', { settings: 'store' }, 'these settings are again what is in force; no restart is needed for them'],
    ]);
  });
});
