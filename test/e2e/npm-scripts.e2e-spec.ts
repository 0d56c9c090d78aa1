import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

describe('a program that npm has started', () => {
  it('gets the signal that npm gets, and ends in order', async () => {
    const environment = { ...process.env, SANDBOX_PORT: '0' };
    const npm = spawn('npm', ['run', '-s', 'start:sandbox'], { cwd: root, env: environment, detached: true });
    try {
      let out = '';
      npm.stdout.setEncoding('utf8');
      do {
        const [text] = (await once(npm.stdout, 'data')) as [string];
        out += text;
      } while (!out.includes('sandbox listening'));
      const url = /"url":"([^"]+)"/.exec(out)?.[1] ?? '';
      expect((await fetch(`${url}/livez`, { headers: { connection: 'close' } })).status).toBe(200);
      npm.kill('SIGTERM');
      await once(npm, 'exit');
      await expect(fetch(`${url}/livez`)).rejects.toThrow('fetch failed');
    } finally {
      // Its whole group: whatever it has left behind goes with it.
      if (npm.pid !== undefined) endGroup(npm.pid);
    }
  });

  it('is the broker just as well', async () => {
    const { scripts } = (await import('../../package.json', { with: { type: 'json' } })).default;
    expect([scripts.start, scripts['start:broker'], scripts['start:egress'], scripts['start:sandbox']]).toEqual(
      ['cli', 'broker', 'egress', 'sandbox'].map(
        (app) => expect.stringMatching(new RegExp(`^exec (?:env (?:\\w+=\\S+ )+)?node .*/${app}\\.js`)) as string,
      ),
    );
  });
});

describe('the command line in a clone', () => {
  it('has the name that the runbooks have, after npm ci and in any folder of it', async () => {
    const { scripts, version } = (await import('../../package.json', { with: { type: 'json' } })).default;
    expect(scripts.dependencies.split(' && ')).toContain('node tools/link-command.mjs');
    await run(process.execPath, ['tools/link-command.mjs'], { cwd: root });
    const { stdout } = await run('npm', ['exec', '--no', '--', 'session-broker', '--version'], { cwd: `${root}/docs` });
    expect(stdout).toBe(`${version}\n`);
  });
});

function endGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch (error) {
    // No process is left in the group, which is what the test is about.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
