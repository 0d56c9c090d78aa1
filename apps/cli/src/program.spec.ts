import { EventEmitter } from 'node:events';
import { SystemClock } from '#libs/clock';
import { OLDEST_NODE } from '#libs/program';
import { givenUrls } from './broker-verbs.js';
import { endingSignal } from './ending-signal.js';
import { exitCodes } from './exit-codes.js';
import { runCli } from './program.js';

describe('a Node.js that is too old', () => {
  async function versionWith(nodeVersion: string): Promise<readonly [number, string]> {
    let said = '';
    const say = (text: string): void => void (said += text);
    const terminal = { out: say, err: say };
    const { signal } = new AbortController();
    const context = { terminal, environment: {}, signal, clock: new SystemClock(), nodeVersion };
    return [await runCli(['--version'], context), said];
  }

  it('is named by every command, before a library fails on it', async () => {
    const [code, said] = await versionWith('20.20.2');
    expect(code).toBe(exitCodes.failed);
    expect(said).toMatch(/^error: Node\.js 20\.20\.2 is too old: run at least /);
    expect(said).toContain('export PATH="$PWD/node_modules/.bin:$PATH"');
    expect((await versionWith(OLDEST_NODE))[0]).toBe(exitCodes.ok);
  });
});

describe('the addresses of a broker', () => {
  const A = 'http://a.example';
  const B = 'http://b.example';

  it.each([
    ['on the command line, with blanks', { url: [A, B] }, {}],
    ['on the command line, with commas', { url: [`${A}, ${B},`] }, {}],
    ['in the environment', {}, { BROKER_URL: `${A},${B}` }],
    ['on the command line before the environment', { url: [A, B] }, { BROKER_URL: 'http://c.example' }],
  ])('are taken as they are written: %s', (_how, options, environment) => {
    expect(givenUrls(options, { environment })).toEqual([A, B]);
  });

  it('are none where nothing names one', () => {
    expect(givenUrls({}, { environment: {} })).toEqual([]);
    expect(givenUrls({ url: [' ,'] }, { environment: { BROKER_URL: A } })).toEqual([]);
  });
});

describe('the signal that asks a command to end', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'])('aborts by %s, however often it comes', (name) => {
    const process = new EventEmitter();
    const signal = endingSignal(process)();
    expect(signal.aborted).toBe(false);
    process.emit(name);
    process.emit(name);
    expect(signal.aborted).toBe(true);
  });

  it('leaves it to the system to end a command that never asks for it', () => {
    const process = new EventEmitter();
    const ending = endingSignal(process);
    expect(process.eventNames()).toEqual([]);
    ending();
    expect(process.eventNames()).toEqual(['SIGINT', 'SIGTERM', 'SIGHUP']);
  });
});
