import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');
const isRoot = process.getuid?.() === 0;
const USER = isRoot ? 10_001 : process.getuid?.();
/** Those of the service `keys`. Without root there are none, and the files stay with their owner. */
const CAPABILITIES = ['chown', 'dac_override'];

/** What makes the demo's files, run as in its container, with folders of this machine. */
describe('the keys of the demo', () => {
  let folder: string;
  let script: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'demo-keys-'));
    const text = readFileSync(join(root, 'deploy/compose/prepare.sh'), 'utf8')
      .replaceAll('/run/keys', folder)
      .replaceAll('/app/', `${root}/`)
      .replaceAll('/settings/', `${root}/deploy/compose/`)
      .replaceAll('10001:10001', `${USER}:${isRoot ? USER : process.getgid?.()}`);
    script = `${folder}.sh`;
    await writeFile(script, text);
  });
  afterEach(async () => {
    await rm(folder, { recursive: true });
    await rm(script);
  });

  function prepare(): void {
    const capabilities = ['-all', ...CAPABILITIES.map((name) => `+${name}`)].join(',');
    const command = ['sh', script];
    const [first = '', ...rest] = isRoot ? ['setpriv', `--bounding-set=${capabilities}`, ...command] : command;
    const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` };
    execFileSync(first, rest, { env });
  }

  /** Each file with its permissions, its owner and its content. */
  const files = (): readonly string[] =>
    readdirSync(folder)
      .sort()
      .map((name) => {
        const { mode, uid } = statSync(join(folder, name));
        return `${name} ${(mode & 0o777).toString(8)} ${uid} ${readFileSync(join(folder, name), 'utf8')}`;
      });

  it('are made once, for the eyes of their user alone as far as they are secret; a second start changes nothing', () => {
    prepare();
    const first = files();
    expect(first.length).toBeGreaterThanOrEqual(10);
    for (const file of first) expect(file.split(' ')[2]).toBe(String(USER));
    const secret = first.filter((file) => /^(?!.*(?:public|\.pub)\.jwk\.json ).*(?:jwk\.json|token) /.test(file));
    expect(secret.map((file) => file.split(' ')[1])).toEqual(['600', '600', '600', '600']);
    prepare();
    expect(files()).toEqual(first);
  });
});
