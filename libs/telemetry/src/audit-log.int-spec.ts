import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeClock } from '#libs/testing';
import { createAuditLog } from './audit-log.js';

describe('the audit log', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'audit-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const open = (destination: string): ReturnType<typeof createAuditLog> =>
    createAuditLog({
      destination,
      clock: new FakeClock(),
      onFailure: (error) => {
        throw error;
      },
    });

  it('appends numbered lines to a file that is its owner’s alone, after what is there already', async () => {
    const file = join(folder, 'audit.jsonl');
    open(file).append({ action: 'session.read', outcome: 'allowed', caller: 'a', merchant: 'shop', generation: 7 });
    const again = open(file);
    again.append({ action: 'request', outcome: 'refused', reason: 'forbidden' });
    again.append({ action: 'request', outcome: 'refused', reason: 'forbidden' });
    const lines = (await readFile(file, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines).toEqual([
      {
        stream: 'audit',
        version: 1,
        sequence: 1,
        time: '2026-01-01T00:00:00.000Z',
        action: 'session.read',
        outcome: 'allowed',
        caller: 'a',
        merchant: 'shop',
        generation: 7,
      },
      expect.objectContaining({ sequence: 1, action: 'request' }),
      expect.objectContaining({ sequence: 2, action: 'request' }),
    ]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('keeps nothing when it is switched off', () => {
    expect(() => open('none').append({ action: 'x', outcome: 'allowed' })).not.toThrow();
  });
});
