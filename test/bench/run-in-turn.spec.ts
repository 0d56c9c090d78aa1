import { runInTurn } from './run-in-turn.js';

const line = { name: 'reads', unit: 'ms', values: [2], beside: { what: 'a bare server', values: [4] } };

describe('benches that run in turn', () => {
  it.each([false, true])('are each printed before the next one begins (as JSON: %s)', async (json) => {
    const printed: string[] = [];
    const ended = runInTurn(['first', 'second'], {
      machine: '2 processors',
      json,
      run: (name) => (name === 'first' ? Promise.resolve([line]) : Promise.reject(new Error('cut short'))),
      print: (text) => printed.push(text),
    });
    await expect(ended).rejects.toThrow('cut short');
    expect(printed).toEqual([
      expect.stringMatching(json ? /^\{"machine":"2 processors","bench":"first"/ : /reads +2\.00 ms +0\.50/),
    ]);
  });
});
