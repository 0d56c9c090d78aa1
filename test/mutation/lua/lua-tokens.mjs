const TOKEN = /--[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\d+(?:\.\d+)?|[A-Za-z_]\w*|\.\.\.|\.\.|[=~<>]=|\s+|./gy;

const kindOf = (text) => {
  if (/^\s/.test(text) || text.startsWith('--')) return 'blank';
  if (/^['"]/.test(text)) return 'string';
  if (/^\d/.test(text)) return 'number';
  return /^[A-Za-z_]/.test(text) ? 'word' : 'sign';
};

/** The tokens of a Lua text, without white space and comments, each with its position. */
export function tokensOf(text) {
  return [...text.matchAll(TOKEN)]
    .map((match) => ({
      text: match[0],
      start: match.index,
      end: match.index + match[0].length,
      kind: kindOf(match[0]),
    }))
    .filter(({ kind }) => kind !== 'blank');
}

const OPENS = new Set(['(', '{', '[']);
const CLOSES = new Set([')', '}', ']']);

/** The index of the first token from `from` on, outside any brackets opened after it, for which `ends` holds. */
export function endOfExpression(tokens, from, ends) {
  let depth = 0;
  for (let index = from; index < tokens.length; index += 1) {
    const { text } = tokens[index];
    if (depth === 0 && ends(tokens[index])) return index;
    if (OPENS.has(text)) depth += 1;
    if (CLOSES.has(text)) depth -= 1;
  }
  return tokens.length;
}
