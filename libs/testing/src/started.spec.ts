import { Started, startedWhole } from './started.js';

describe('what a test has started', () => {
  it('is ended once, the last first', async () => {
    const ended: string[] = [];
    const started = new Started();
    expect(started.add('server', (name) => ended.push(name))).toBe('server');
    started.add('client', (name) => Promise.resolve().then(() => ended.push(name)));
    await started.end();
    await started.end();
    expect(ended).toEqual(['client', 'server']);
  });

  it('is ended also when another part does not end, which is told', async () => {
    const ended: string[] = [];
    const started = new Started();
    started.add('server', (name) => ended.push(name));
    started.add('client', () => Promise.reject(new Error('it hangs')));
    await expect(started.end()).rejects.toThrow('did not end: Error: it hangs');
    expect(ended).toEqual(['server']);
  });
});

describe('something of several parts', () => {
  it('is there when all of them have started', async () => {
    const parts: string[] = [];
    const start = async (): Promise<unknown> => parts.push('one');
    expect(await startedWhole(parts, { start, end: () => parts.splice(0) })).toEqual(['one']);
  });

  it('is ended when one of them does not start, and the cause is told', async () => {
    const parts: string[] = [];
    const start = async (): Promise<void> => {
      parts.push('one');
      throw new Error('the other did not start');
    };
    await expect(startedWhole(parts, { start, end: () => parts.splice(0) })).rejects.toThrow('the other did not start');
    expect(parts).toEqual([]);
  });
});
