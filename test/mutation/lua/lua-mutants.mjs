/** What each symbol or word is replaced with: each replacement is a mutant. */
const REPLACEMENTS = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '==': ['~='],
  '~=': ['=='],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '%': ['*'],
  and: ['or'],
  or: ['and'],
  not: [''],
  min: ['max'],
  max: ['min'],
  true: ['false'],
  false: ['true'],
};
const TOKEN = /--[^\n]*|'[^'\n]*'|"[^"\n]*"|\d+(?:\.\d+)?|[A-Za-z_]\w*|\.\.\.|\.\.|[=~<>]=|[^\s]/g;
const CONDITION = /(?<=^ *(if|elseif|while) ).+(?= (?:then|do)\b)/gm;
/** A call whose result is not used, or an assignment, that is whole on its line. */
const STATEMENT = /(?<=^ *)(?:[\w.:]+\(.*\)|[\w.[\]]+ = .*[^{(,])$/gm;

function replacementsOf(text, before) {
  if (/^\d/.test(text)) return [String(Number(text) + 1)];
  // The name of a command is not our decision: without it nothing would run.
  if (/^'/.test(text))
    return /call\($/.test(before) ? [] : [text === "''" ? "'mutant'" : `${text.slice(0, -1)}_mutant'`];
  return Object.hasOwn(REPLACEMENTS, text) ? REPLACEMENTS[text] : [];
}

/**
 * Small changes of a Lua text: a comparison that is off by one or reversed, a condition that is always or never met,
 * `and` for `or`, smallest for largest, a number that is one higher, a different string, a command that is not sent, a
 * value that is not assigned.
 */
export function mutantsOf(text) {
  const mutant = ({ 0: was, index }, replacement) => ({ start: index, end: index + was.length, was, replacement });
  const ofTokens = [...text.matchAll(TOKEN)].flatMap((found) =>
    replacementsOf(found[0], text.slice(0, found.index)).map((replacement) => mutant(found, replacement)),
  );
  const ofConditions = [...text.matchAll(CONDITION)].flatMap((found) =>
    (found[1] === 'while' ? ['false'] : ['true', 'false']).map((replacement) => mutant(found, replacement)),
  );
  const ofStatements = [...text.matchAll(STATEMENT)].map((found) => mutant(found, ''));
  return [...ofTokens, ...ofConditions, ...ofStatements].sort((one, other) => one.start - other.start);
}
