import { BrokerError } from '#libs/errors';

/** The position of something in a document: member names and list indexes, from the outside in. */
export type JsonPath = readonly (string | number)[];

export interface JsonLeaf {
  readonly kind: 'name' | 'text' | 'number';
  /** A name or a text without its quotes and escapes; a number as written. */
  readonly content: string;
  /** The name of the member whose value this is, or is an element of; undefined if there is none, and for names. */
  readonly member: string | undefined;
  /** For a name: the position of its object. Must be called before the next leaf is taken. */
  path(): JsonPath;
}

type Frame =
  | { readonly kind: 'object'; member: string | undefined }
  | { readonly kind: 'list'; readonly member: string | undefined; index: number };

/** Skips white space, colons and the three literals. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\],]/g;

/**
 * All names, texts and numbers in a JSON text, in order. It reads the text itself: a parsed object keeps only the last
 * of several members with the same name and loses digits of long numbers, and both would still be sent. It handles any
 * depth.
 * @throws BrokerError `invalid_request` when the text is not JSON
 */
export function* leavesOf(json: string): Generator<JsonLeaf> {
  checkJson(json);
  const frames: Frame[] = [];
  for (const [token] of json.matchAll(TOKEN)) {
    const frame = frames.at(-1);
    if (token === '{') frames.push({ kind: 'object', member: undefined });
    else if (token === '[') frames.push({ kind: 'list', member: frame?.member, index: 0 });
    else if (token === '}' || token === ']') frames.pop();
    else if (token === ',') goOn(frame);
    else yield leafOf(token, frames);
  }
}

/** A comma: in an object, the next text is a name again. */
function goOn(frame: Frame | undefined): void {
  if (frame?.kind === 'object') frame.member = undefined;
  else if (frame?.kind === 'list') frame.index += 1;
}

function leafOf(token: string, frames: readonly Frame[]): JsonLeaf {
  const frame = frames.at(-1);
  if (!token.startsWith('"')) return leaf(frames, 'number', token);
  const content = token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
  if (frame?.kind !== 'object' || frame.member !== undefined) return leaf(frames, 'text', content);
  const name = leaf(frames, 'name', content);
  frame.member = content;
  return name;
}

function leaf(frames: readonly Frame[], kind: JsonLeaf['kind'], content: string): JsonLeaf {
  const member = frames.at(-1)?.member;
  const enclosing = kind === 'name' ? frames.length - 1 : frames.length;
  const path = (): JsonPath =>
    frames.slice(0, enclosing).map((frame) => (frame.kind === 'list' ? frame.index : (frame.member ?? '')));
  return { kind, content, member, path };
}

function checkJson(json: string): void {
  try {
    JSON.parse(json);
  } catch {
    // The parser's own error is dropped on purpose: it quotes the body.
    throw new BrokerError('invalid_request', { publicDetail: 'the body is not JSON' });
  }
}
