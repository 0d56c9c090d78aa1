import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeWith } from '../../interop/availability.js';
import { kubernetesPrograms, root, run } from './kubernetes-programs.js';
import { parsed } from './manifests.js';

const isCarried = process.platform === 'linux' && process.arch === 'x64';
const guide = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8');
const [, block = ''] = /To run the unpacked ones by hand, in the clone:\n\n```sh\n([^]*?)```/.exec(guide) ?? [];
const [unpacking = '', path = '', ...commands] = block.trim().split('\n');

describeWith(kubernetesPrograms, 'kubectl and Helm, as CONTRIBUTING.md runs them by hand', () => {
  // If the archive has none for this machine, those of the PATH are meant.
  const PATH = isCarried ? '/usr/bin:/bin' : process.env['PATH'];
  const shell = (line: string): string =>
    execFileSync('sh', ['-euc', `${path}\n${line}`], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH, HOME: '/nonexistent' },
    });

  it('are unpacked by this file, which the first line names', () => {
    const [, pattern = 'none'] = /--testPathPatterns (\S+)/.exec(unpacking) ?? [];
    expect(import.meta.filename).toContain(pattern);
  });

  it('are found after the line for the path', () => {
    for (const name of ['kubectl', 'helm'] as const) {
      expect(run(name, ['version', ...(name === 'kubectl' ? ['--client'] : [])])).not.toBe('');
      const found = shell(`command -v ${name}`);
      expect(found.startsWith(join(root, 'test/verify/node_modules/.cache/kubernetes-programs'))).toBe(isCarried);
    }
  });

  it('render with the lines that follow', () => {
    expect(commands.map((line) => line.split(' ')[0])).toEqual(['kubectl', 'helm']);
    for (const line of commands) {
      expect(parsed(shell(line)).map(({ kind }) => kind)).toContain('Deployment');
    }
  });
});
