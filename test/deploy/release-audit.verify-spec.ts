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
  readonly isBuilt: boolean;
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
    const author = ['-c', 'user.name=one', '-c', 'user.email=one@example.org', '-c', 'commit.gpgsign=false'];
    for (const step of ['init -q', 'add -A', 'commit -qm one'])
      execFileSync(toolPath('git'), [...author, ...step.split(' ')], { cwd: folder });
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
    rmSync(join(folder, 'npm/built'), { force: true });
    const env = { ...process.env, PATH: [join(folder, 'npm'), process.env['PATH']].join(delimiter) };
    const program = [join(folder, 'tools', file), ...args];
    const { status, stdout, stderr } = spawnSync(process.execPath, program, { cwd: folder, encoding: 'utf8', env });
    return { status, said: stdout + stderr, isBuilt: existsSync(join(folder, 'npm/built')) };
  }

  it.each([
    ['answered to both', AUDITED, SIGNED, true, true],
    ['found something', VULNERABLE, SIGNED, false, false],
    ['did not answer of vulnerabilities', REFUSED, SIGNED, true, false],
    ['did not answer of signatures', AUDITED, REFUSED, true, false],
  ] as const)('where the registry %s, passes or stops a release as it has to', (...row) => {
    const [, vulnerabilities, signatures, passes, answers] = row;
    answering(vulnerabilities, signatures);
    expect(ran('audit.mjs').status).toBe(passes ? 0 : 1);
    expect(ran('audit.mjs', '--must-answer').status).toBe(answers ? 0 : 1);
    // Nothing is built before it has passed; what builds here ends with 9.
    expect(ran('release/main.mjs')).toMatchObject(
      answers ? { status: 9, isBuilt: true } : { status: 1, isBuilt: false },
    );
    const told = ran('release/main.mjs', '--unaudited');
    expect(told).toMatchObject(passes ? { status: 9, isBuilt: true } : { status: 1, isBuilt: false });
  });

  it('says what was not asked for, and how a release goes on without it', () => {
    answering(REFUSED, REFUSED);
    const { said } = ran('release/main.mjs');
    expect(said).toContain('NOT AUDITED: 405 Method Not Allowed');
    expect(said).toContain('SIGNATURES NOT CHECKED: 405 Method Not Allowed');
    expect(said).toMatch(/^refused: .*--unaudited/m);
  });
});
