import { FakeClock } from '#libs/testing';
import { Complaints } from './complaints.js';
import { createLogger, type Logger, type LogLevel } from './logger.js';

const CANARY = 'Zk7canaryQ';

function capture(level?: LogLevel): { log: Logger; lines: () => Record<string, unknown>[]; text: () => string } {
  let text = '';
  const log = createLogger({
    name: 'broker',
    clock: new FakeClock(),
    destination: { write: (line) => void (text += line) },
    ...(level === undefined ? {} : { level }),
  });
  const lines = (): Record<string, unknown>[] =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { log, lines, text: () => text };
}

describe('the logger', () => {
  it('writes one JSON line with level, time, name, fields and message', () => {
    const { log, text, lines } = capture();
    log.info({ merchant: 'shop', generation: 7 }, 'session published');
    expect(text()).toMatch(/^\{.*\}\n$/);
    expect(lines()).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        name: 'broker',
        merchant: 'shop',
        generation: 7,
        msg: 'session published',
      },
    ]);
  });

  it('writes nothing below its level', () => {
    const { log, lines } = capture('warn');
    log.debug({}, 'a');
    log.info({}, 'b');
    log.warn({}, 'c');
    log.error({}, 'd');
    expect(lines().map((line) => line['level'])).toEqual(['warn', 'error']);
  });

  it('adds the fields of a child to its lines, and prints none twice', () => {
    const { log, text, lines } = capture();
    log.child({ replica: 'a', merchant: 'shop' }).child({ trigger: 'schedule' }).info({ merchant: 'other' }, 'due');
    expect(lines()[0]).toMatchObject({ replica: 'a', merchant: 'other', trigger: 'schedule' });
    expect(text().match(/"merchant"/g)).toHaveLength(1);
  });

  it('does not let a field pass for the level, the time or the message', () => {
    const { log, text, lines } = capture();
    log.info({ level: 'error', msg: 'forged', time: 0, name: 'other' }, 'true');
    expect(lines()[0]).toMatchObject({ level: 'info', msg: 'true', name: 'broker', 'field.level': 'error' });
    expect(text().match(/"level"/g)).toHaveLength(1);
  });

  it('keeps one line one line, whatever the message holds', () => {
    const { log, text, lines } = capture();
    log.info({ value: 'a\nb\u2028c' }, 'first\n{"level":"error"} %s %d');
    expect(text().match(/\n/g)).toHaveLength(1);
    expect(lines()[0]).toMatchObject({ msg: 'first\n{"level":"error"} %s %d' });
  });

  it.each<[string, (log: Logger) => void]>([
    ['a field', (log) => log.info({ authToken: CANARY }, 'x')],
    ['the message', (log) => log.warn({}, `sent Bearer ${CANARY}`)],
    ['the bindings of a child', (log) => log.child({ serviceCode: CANARY }).info({}, 'x')],
    ['an error', (log) => log.error({ err: Object.assign(new Error(CANARY), { command: { args: [CANARY] } }) }, 'x')],
    [
      'a request in place of the fields',
      (log) => log.info({ method: 'GET', url: `/x?t=${CANARY}`, headers: { authorization: CANARY }, socket: {} }, 'x'),
    ],
    ['a list in place of the fields', (log) => log.info(['authorization', CANARY], 'x')],
  ])('prints no secret that comes by %s', (_name, act) => {
    const { log, lines, text } = capture('debug');
    act(log);
    expect(lines()).toHaveLength(1);
    expect(text()).not.toContain(CANARY);
  });
});

describe('the complaints of a library', () => {
  it('are told once in ten minutes each, however often they are made', async () => {
    const clock = new FakeClock();
    const lines: string[] = [];
    const note = (_fields: object, message: string): void => void lines.push(message);
    const complaints = new Complaints({ debug: note, warn: note, error: note } as unknown as Logger, clock);
    const unreachable = (attempt: number): string => `${'the collector cannot be reached'.padEnd(60, '.')} ${attempt}`;
    for (let attempt = 0; attempt < 100; attempt += 1) complaints.say('error', unreachable(attempt));
    complaints.say('warn', 'something else');
    expect(lines).toEqual([unreachable(0), 'something else']);
    await clock.advance(600_000);
    complaints.say('error', unreachable(7));
    expect(lines).toHaveLength(3);
  });
});
