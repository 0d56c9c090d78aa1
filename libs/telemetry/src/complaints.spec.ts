import { FakeClock } from '#libs/testing';
import { Complaints } from './complaints.js';
import type { Logger } from './logger.js';

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

  it('take a bounded place in memory', () => {
    const lines: string[] = [];
    const note = (_fields: object, message: string): void => void lines.push(message);
    const complaints = new Complaints({ debug: note, warn: note, error: note } as unknown as Logger, new FakeClock());
    for (let count = 0; count < 200; count += 1) complaints.say('error', String(count));
    expect(lines).toHaveLength(200);
    complaints.say('error', '199');
    expect(lines).toHaveLength(200);
  });
});
