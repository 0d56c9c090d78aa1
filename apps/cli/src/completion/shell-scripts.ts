import { type CommandNode, steps, type Word } from './command-tree.js';

export const PROGRAM = 'session-broker';
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

type Tree = readonly CommandNode[];

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const patterns = (texts: readonly string[]): string => texts.map(quoted).join('|');

/** Walks over the words typed so far: `at` is the command that they name, e.g. `keys check`. */
const walk = (tree: Tree, words: string): string => `  for word in ${words}; do
    case "$at $word" in
      ${patterns(steps(tree))}) at="\${at:+$at }$word" ;;
    esac
  done`;

interface Values {
  readonly withChoices: readonly { readonly at: string; readonly choices: readonly string[] }[];
  readonly others: readonly string[];
}

function valuesOf(tree: Tree): Values {
  const all = tree.flatMap(({ path, valued }) =>
    valued.map(({ option, choices }) => ({ at: `${path} ${option}`, choices })),
  );
  return {
    withChoices: all.flatMap(({ at, choices }) => (choices === undefined ? [] : [{ at, choices }])),
    others: all.flatMap(({ at, choices }) => (choices === undefined ? [at] : [])),
  };
}

/** If no word fits, bash itself completes file names. */
function bash(tree: Tree): string {
  const { withChoices, others } = valuesOf(tree);
  const choices = withChoices.map(({ at, choices: words }) => `    ${quoted(at)}) words=${quoted(words.join(' '))} ;;`);
  const cases = tree.map(
    ({ path, words }) => `      ${quoted(path)}) words=${quoted(words.map(({ text }) => text).join(' '))} ;;`,
  );
  return `_session_broker() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" at='' word words=''
${walk(tree, '"${COMP_WORDS[@]:1:COMP_CWORD-1}"')}
  case "$at $previous" in
${choices.join('\n')}
    ${patterns(others)}) ;;
    *) case "$at" in
${cases.join('\n')}
    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _session_broker ${PROGRAM}`;
}

/** Colons separate a word from its meaning, so those within the word are escaped. */
const described = ({ text, meaning }: Word): string => quoted(`${text.replaceAll(':', '\\:')}:${meaning}`);

function zsh(tree: Tree): string {
  const { withChoices, others } = valuesOf(tree);
  const choices = withChoices.map(
    ({ at, choices: words }) => `    ${quoted(at)}) compadd -- ${words.map(quoted).join(' ')}; return ;;`,
  );
  const cases = tree.map(({ path, words }) => `    ${quoted(path)}) found=(${words.map(described).join(' ')}) ;;`);
  return `#compdef ${PROGRAM}
_session_broker() {
  local at='' word
  local -a found
${walk(tree, '"${(@)words[2,CURRENT-1]}"')}
  case "$at $words[CURRENT-1]" in
${choices.join('\n')}
    ${patterns(others)}) _files; return ;;
  esac
  case "$at" in
${cases.join('\n')}
  esac
  _describe 'word' found || _files
}
compdef _session_broker ${PROGRAM}`;
}

/** Within fish quotes, only backslashes and quotes need escaping. */
const fishQuoted = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

function fish(tree: Tree): string {
  const lines = tree.flatMap(({ path, words, valued, takesAnything }) => {
    const at = `-n ${fishQuoted(`test (__session_broker_at) = ${fishQuoted(path)}`)}`;
    const noFiles = takesAnything ? [] : [`complete -c ${PROGRAM} ${at} -f`];
    const completed = words.map(({ text, meaning }) => {
      const value = valued.find(({ option }) => option === text);
      const takes = value === undefined ? '' : ` -r${choicesFor(value.choices)}`;
      const word = text.startsWith('--') ? `-l ${text.slice(2)}` : `-a ${text}`;
      return `complete -c ${PROGRAM} ${at} ${word}${takes} -d ${fishQuoted(meaning)}`;
    });
    return [...noFiles, ...completed];
  });
  return `function __session_broker_at
  set -l at ''
  for word in (commandline -opc)[2..-1]
    switch "$at $word"
      case ${steps(tree).map(fishQuoted).join(' ')}
        set at (string trim "$at $word")
    end
  end
  echo $at
end
${lines.join('\n')}`;
}

const choicesFor = (choices: readonly string[] | undefined): string =>
  choices === undefined ? '' : ` -f -a ${fishQuoted(choices.join(' '))}`;

const writers: Readonly<Record<Shell, (tree: Tree) => string>> = { bash, zsh, fish };

/** The script with which a shell completes the command line. */
export const scriptFor = (shell: Shell, tree: Tree): string => writers[shell](tree);
