import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith, FakeClock, toolPath } from '#libs/testing';
import { runCli } from '../program.js';
import { type Shell, SHELLS } from './shell-scripts.js';

let folder: string;
const scripts = new Map<Shell, string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'completion-'));
  for (const shell of SHELLS) {
    const out: string[] = [];
    const terminal = { out: (text: string) => void out.push(text), err: () => undefined };
    const context = { terminal, environment: {}, signal: new AbortController().signal, clock: new FakeClock() };
    await runCli(['completion', shell], context);
    scripts.set(shell, join(folder, shell));
    await writeFile(join(folder, shell), out.join('\n'));
  }
});
afterAll(() => rm(folder, { recursive: true }));

const run = (command: string, args: readonly string[], environment: Record<string, string> = {}): string =>
  execFileSync(command, args, { encoding: 'utf8', cwd: folder, env: { ...process.env, ...environment } });

/** What is typed, and the words that are then offered. */
const offers: readonly (readonly [typed: string, words: readonly string[]])[] = [
  ['ke', ['keys']],
  ['keys c', ['check', 'convert']],
  ['keys check --expect p', ['private', 'public']],
  ['keys check --e', ['--expect']],
  ['config check --j', ['--json']],
  ['completion ', ['bash', 'fish', 'zsh']],
];

describe('the help of the completion', () => {
  it('names the shells', async () => {
    const out: string[] = [];
    const terminal = { out: (text: string) => void out.push(text), err: () => undefined };
    const context = { terminal, environment: {}, signal: new AbortController().signal, clock: new FakeClock() };
    await runCli(['completion', '--help'], context);
    for (const shell of SHELLS) expect(out.join('\n')).toContain(`"${shell}"`);
  });
});

describeWith('bash', 'the completion of the command line in bash', () => {
  it.each(offers)('offers behind "%s" %j', (typed, words) => {
    const ask = `source "$1"
      COMP_WORDS=(session-broker $2); [[ $2 == *' ' ]] && COMP_WORDS+=('')
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _session_broker; printf '%s\n' "\${COMPREPLY[@]}"`;
    const offered = run(toolPath('bash'), ['--norc', '-c', ask, 'bash', scripts.get('bash') ?? '', typed]);
    const own = offered
      .trim()
      .split('\n')
      .filter((word) => typed !== 'completion ' || !word.startsWith('--'));
    expect(own.sort()).toEqual(words);
  });

  it('is registered for the name of the program', () => {
    const said = run(toolPath('bash'), [
      '--norc',
      '-c',
      'source "$1"; complete -p session-broker',
      'bash',
      scripts.get('bash') ?? '',
    ]);
    expect(said.trim()).toBe('complete -o default -F _session_broker session-broker');
  });
});

describeWith('fish', 'the completion of the command line in fish', () => {
  it.each(offers)('offers behind "%s" %j', (typed, words) => {
    const ask = 'source $argv[1]; complete -C "session-broker $argv[2]"';
    const environment = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder };
    const offered = run(toolPath('fish'), ['--no-config', '-c', ask, scripts.get('fish') ?? '', typed], environment);
    const own = offered
      .trim()
      .split('\n')
      .map((line) => line.split('\t')[0] ?? '');
    expect(own.sort()).toEqual(words);
  });
});

/** A terminal in which someone types; then the resulting line is printed. */
const TERMINAL = String.raw`
zmodload zsh/zpty
zpty terminal zsh -f -i
zpty -w terminal 'bindkey -e; autoload -U compinit; compinit -u -D; source $SCRIPT; print READY$((1))'
zpty -r terminal seen '*READY1*'
zpty -w -n terminal "session-broker $TYPED"$'\t\C-aprint -r -- DONE "<" \C-e ">"\n'
zpty -r terminal seen $'*\nDONE < *>*'
print -r -- "$seen"
zpty -d terminal
`;

describeWith('zsh', 'the completion of the command line in zsh', () => {
  it.each([
    ['ke', 'keys'],
    ['keys conv', 'keys convert'],
    ['keys check --e', 'keys check --expect'],
    ['keys check --expect pu', 'keys check --expect public'],
    ['completion f', 'completion fish'],
  ])('makes of "%s" %j', (typed, line) => {
    const environment = { SCRIPT: scripts.get('zsh') ?? '', TYPED: typed, HOME: folder, TERM: 'dumb' };
    const seen = run(toolPath('zsh'), ['-f', '-c', TERMINAL], environment);
    expect(/\nDONE < session-broker (.*?) +>/.exec(seen.replaceAll('\r', ''))?.[1]).toBe(line);
  });
});
