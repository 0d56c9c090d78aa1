import { EventEmitter } from 'node:events';
import { endingSignal } from './ending-signal.js';

describe('the signal that asks a command to end', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('aborts by %s, however often it comes', (name) => {
    const process = new EventEmitter();
    const signal = endingSignal(process)();
    expect(signal.aborted).toBe(false);
    process.emit(name);
    process.emit(name);
    expect(signal.aborted).toBe(true);
  });

  it('is one for all who ask', () => {
    const ending = endingSignal(new EventEmitter());
    expect(ending()).toBe(ending());
  });

  it('leaves it to the system to end a command that never asks for it', () => {
    const process = new EventEmitter();
    const ending = endingSignal(process);
    expect(process.eventNames()).toEqual([]);
    ending();
    expect(process.eventNames()).toEqual(['SIGINT', 'SIGTERM', 'SIGHUP']);
  });
});
