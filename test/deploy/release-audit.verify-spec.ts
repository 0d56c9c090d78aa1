import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describeWith, toolPath } from '#libs/testing';

const root = join(import.meta.dirname, '..', '..');
const counts = (high: number): object => ({ critical: 0, high, moderate: 0, low: 0, info: 0 });
const AUDITED = { vulnerabilities: {}, metadata: { vulnerabilities: counts(0) } };
const VULNERABLE = {
  vulnerabilities: { one: { name: 'one', severity: 'high', range: '<2' } },
  metadata: { vulnerabilities: counts(1) },
};
const SIGNED = { invalid: [], missing: [] };
/** What npm says of a registry without audits. */
const REFUSED = { message: '405 Method Not Allowed', error: { summary: '' } };

interface Ended {
  readonly status: number | null;
  readonly said: string;
}

describeWith(['linux', 'git'], 'the audit of a release', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'release-audit-'));
    cpSync(join(root, 'tools'), join(folder, 'tools'), { recursive: true });
    cpSync(join(root, 'package.json'), join(folder, 'package.json'));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    writeFileSync(join(folder, 'CHANGELOG.md'), `# Changelog\n\n## ${version} - 2026-11-22\n\n- One.\n`);
    writeFileSync(join(folder, '.gitignore'), 'dist/\nnpm/\n');
    mkdirSync(join(folder, 'npm'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** An npm that asks no registry: it has the answers ready, runs the folder's audit, and builds nothing. */
  function answering(vulnerabilities: object, signatures: object): void {
    const at = (name: string): string => join(folder, 'npm', name);
    writeFileSync(at('vulnerabilities.json'), JSON.stringify(vulnerabilities));
    writeFileSync(at('signatures.json'), JSON.stringify(signatures));
    const script = `#!/bin/sh
case "$*" in
  'audit signatures --json') exec cat '${at('signatures.json')}' ;;
  'audit '*) exec cat '${at('vulnerabilities.json')}' ;;
  'run -s audit'*) shift 3; [ "\${1-}" = -- ] && shift; exec '${process.execPath}' tools/audit.mjs "$@" ;;
  'run -s build') echo 'it builds'; touch '${at('built')}'; exit 9 ;;
esac
exit 8
`;
    writeFileSync(at('npm'), script, { mode: 0o755 });
  }

  function ran(file: string, ...args: string[]): Ended {
    const env = { ...process.env, PATH: [join(folder, 'npm'), process.env['PATH']].join(delimiter) };
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, 'tools', file), ...args], {
      cwd: folder,
      encoding: 'utf8',
      env,
    });
    return { status, said: stdout + stderr };
  }

  it.each([
    ['answered to both', AUDITED, SIGNED, 0, 0],
    ['found something', VULNERABLE, SIGNED, 1, 1],
    ['did not answer of vulnerabilities', REFUSED, SIGNED, 0, 1],
    ['did not answer of signatures', AUDITED, REFUSED, 0, 1],
  ] as const)('where the registry %s, ends as it has to', (...[, vulnerabilities, signatures, plain, demanding]) => {
    answering(vulnerabilities, signatures);
    expect(ran('audit.mjs').status).toBe(plain);
    expect(ran('audit.mjs', '--must-answer').status).toBe(demanding);
  });

  it('says what was not asked for', () => {
    answering(REFUSED, REFUSED);
    const { said } = ran('audit.mjs');
    expect(said).toContain('NOT AUDITED: 405 Method Not Allowed');
    expect(said).toContain('SIGNATURES NOT CHECKED: 405 Method Not Allowed');
  });

  describe('in `npm run release`', () => {
    beforeEach(() => {
      for (const args of [
        ['init', '-q'],
        ['add', '-A'],
        ['commit', '-qm', 'one'],
      ]) {
        const author = ['-c', 'user.name=one', '-c', 'user.email=one@example.org', '-c', 'commit.gpgsign=false'];
        execFileSync(toolPath('git'), [...author, ...args], { cwd: folder });
      }
    });
    const isBuilt = (): boolean => existsSync(join(folder, 'npm/built'));

    it('stops it before anything is built where the registry does not answer, and names the way on', () => {
      answering(REFUSED, REFUSED);
      const { status, said } = ran('release/main.mjs');
      expect(said).toContain('refused: ');
      expect(said).toContain('--unaudited');
      expect([status, isBuilt()]).toEqual([1, false]);
    });

    it('lets it go on then where that is said, and never past a vulnerability', () => {
      answering(REFUSED, REFUSED);
      expect(ran('release/main.mjs', '--unaudited').status).toBe(9);
      expect(isBuilt()).toBe(true);
      rmSync(join(folder, 'npm/built'));
      answering(VULNERABLE, SIGNED);
      expect(ran('release/main.mjs', '--unaudited').status).toBe(1);
      expect(isBuilt()).toBe(false);
    });

    it('lets it go on where nothing was found', () => {
      answering(AUDITED, SIGNED);
      expect(ran('release/main.mjs').status).toBe(9);
      expect(isBuilt()).toBe(true);
    });
  });
});
