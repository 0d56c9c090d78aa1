import { SystemClock } from '#libs/clock';
import { OLDEST_NODE } from '#libs/program';
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
