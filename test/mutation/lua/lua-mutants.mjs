import { endOfExpression, tokensOf } from './lua-tokens.mjs';

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
/** A statement begins after one of these, or on a new line. */
const BEFORE_STATEMENTS = new Set(['then', 'do', 'else', 'repeat']);
const KEYWORDS = new Set([
  'if',
  'elseif',
  'else',
  'end',
  'for',
  'while',
  'do',
  'local',
  'return',
  'repeat',
  'until',
  'break',
]);

const isLogic = ({ text }) => text === 'and' || text === 'or';
const mutant = (from, to, replacement) => ({ start: from.start, end: to.end, replacement });

/** A condition is always or never met, or loses one of its parts. */
function ofConditions(tokens) {
  const ends = { if: 'then', elseif: 'then', while: 'do' };
  return tokens.flatMap(({ text }, index) => {
    const end = ends[text];
    if (end === undefined) return [];
    const last = endOfExpression(tokens, index + 1, (token) => token.text === end) - 1;
    const whole = (replacement) => mutant(tokens[index + 1], tokens[last], replacement);
    const always = text === 'while' ? [] : [whole('true')];
    return [whole('false'), ...always, ...withoutParts(tokens, index + 1, last)];
  });
}

function withoutParts(tokens, first, last) {
  const mutants = [];
  let part = first;
  while (part <= last) {
    const next = Math.min(last + 1, endOfExpression(tokens, part, isLogic));
    const joinedBy = tokens[next <= last ? next : part - 1]?.text;
    if (next <= last || part > first) {
      mutants.push(mutant(tokens[part], tokens[next - 1], joinedBy === 'and' ? 'true' : 'false'));
    }
    part = next + 1;
  }
  return mutants;
}

/** A call whose result is not used is left out, and so is an assignment. */
function ofStatements(tokens, text) {
  let depth = 0;
  return tokens.flatMap((token, index) => {
    depth += Number(/^[({[]$/.test(token.text)) - Number(/^[)}\]]$/.test(token.text));
    const before = tokens[index - 1];
    const begins = before === undefined || BEFORE_STATEMENTS.has(before.text) || before.line < token.line;
    if (depth > 0 || token.kind !== 'word' || KEYWORDS.has(token.text) || !begins) return [];
    const end = endOfExpression(tokens, index, (other) => other.line > token.line || KEYWORDS.has(other.text)) - 1;
    const statement = text.slice(token.start, tokens[end].end);
    return /^[\w.:]+\(|^[^(=]+ = /.test(statement) ? [mutant(token, tokens[end], '')] : [];
  });
}

function ofTokens(tokens) {
  return tokens.flatMap((token, index) => {
    const { text, kind } = token;
    const before = tokens[index - 1]?.text;
    if (kind === 'number') return [mutant(token, token, String(Number(text) + 1))];
    if (kind === 'string') {
      // The name of a command is not our decision: without it nothing would run.
      const isCommand = before === '(' && /^p?call$/.test(tokens[index - 2]?.text ?? '');
      return isCommand ? [] : [mutant(token, token, text === "''" ? "'mutant'" : `${text.slice(0, -1)}_mutant'`)];
    }
    if (text === '..') return [mutant(token, tokens[endOfOperand(tokens, index + 1)], '')];
    // A minus before a number, as in -1, is a sign and not a subtraction.
    const replacements = Object.hasOwn(REPLACEMENTS, text) ? REPLACEMENTS[text] : [];
    return replacements.map((replacement) => mutant(token, token, replacement));
  });
}

/** The operand of `..` ends before the next `..`, comma or bracket, or at the end of its line. */
function endOfOperand(tokens, from) {
  const ends = ({ text, line }) => /^(\.\.|[,)}\]]|and|or|then)$/.test(text) || line > tokens[from].line;
  return endOfExpression(tokens, from, ends) - 1;
}

/**
 * Every small change of a Lua text: a comparison that is off by one or reversed, a condition that is always or never
 * met or loses a part, `and` for `or`, smallest for largest, a number that is one higher, a different string, a command
 * that is not sent, a value that is not assigned.
 */
export function mutantsOf(text) {
  const lineOf = (offset) => text.slice(0, offset).split('\n').length;
  const tokens = tokensOf(text).map((token) => ({ ...token, line: lineOf(token.start) }));
  const all = [...ofTokens(tokens), ...ofConditions(tokens), ...ofStatements(tokens, text)];
  const seen = new Set();
  return all
    .map((found) => ({ ...found, line: lineOf(found.start), was: text.slice(found.start, found.end) }))
    .filter(({ start, end, replacement, was }) => {
      const key = `${start}:${end}:${replacement}`;
      if (seen.has(key) || was === replacement) return false;
      return seen.add(key);
    })
    .sort((one, other) => one.start - other.start);
}
