export interface WireAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const STATUS_LINE = /^HTTP\/1\.1 ([1-5]\d{2}) [ -~]*$/;
const HEADER_LINE = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/;

/** @throws Error if it does not hold */
export function demand(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(sentence);
}

/**
 * Reads what came on one connection strictly (RFC 9112): a server must never send anything that a client could read in
 * two ways.
 * @param received one character for each octet
 * @throws Error at anything that is not a sequence of whole answers
 */
export function readAnswers(received: string, asked: string): WireAnswer[] {
  const answers: WireAnswer[] = [];
  // An answer does not show whether it is one to HEAD, which has no body.
  const mayLackBody = /HEAD/i.test(asked);
  let rest = received;
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n');
    demand(end >= 0, `the head of an answer is whole: ${shown(rest)}`);
    const head = readHead(rest.slice(0, end));
    const { body, after } = readBody(head, rest.slice(end + 4), mayLackBody);
    answers.push({ ...head, body });
    demand(after === '' || head.headers.get('connection') !== 'close', 'nothing follows the last answer');
    rest = after;
  }
  return answers;
}

type Head = Omit<WireAnswer, 'body'>;

function readHead(text: string): Head {
  const [line = '', ...lines] = text.split('\r\n');
  const status = STATUS_LINE.exec(line)?.[1];
  demand(status !== undefined, `an answer begins with a status line: ${shown(line)}`);
  const headers = new Map<string, string>();
  for (const one of lines) {
    const [, name = '', value = ''] = HEADER_LINE.exec(one) ?? [];
    demand(name !== '', `a header is a name and a value: ${shown(one)}`);
    demand(!headers.has(name.toLowerCase()) || name.toLowerCase() === 'set-cookie', `${name} comes once`);
    headers.set(name.toLowerCase(), value);
  }
  return { status: Number(status), headers };
}

interface Body {
  readonly body: string;
  readonly after: string;
}

function readBody({ status, headers }: Head, rest: string, mayLackBody: boolean): Body {
  if (status < 200 || status === 204 || status === 304) return { body: '', after: rest };
  const isNext = rest === '' || rest.startsWith('HTTP/1.1 ');
  const length = headers.get('content-length');
  demand(length === undefined || !headers.has('transfer-encoding'), 'an answer has one framing');
  if (mayLackBody && isNext) return { body: '', after: rest };
  if (length !== undefined) {
    demand(/^\d+$/.test(length) && Number(length) <= rest.length, 'an answer is as long as it says');
    return { body: rest.slice(0, Number(length)), after: rest.slice(Number(length)) };
  }
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(rest, headers);
  demand(headers.get('connection') === 'close', 'an answer without a length ends with its connection');
  return { body: rest, after: '' };
}

/** An event stream ends when its connection does. */
function readChunks(text: string, headers: Head['headers']): Body {
  const mayBreakOff = headers.get('content-type')?.startsWith('text/event-stream') === true;
  let [body, rest] = ['', text];
  while (rest !== '' || !mayBreakOff) {
    const [line, size = ''] = /^([0-9a-f]+)\r\n/i.exec(rest) ?? [];
    demand(line !== undefined, `a chunk begins with its size: ${shown(rest)}`);
    const start = line?.length ?? 0;
    const end = start + Number.parseInt(size, 16);
    demand(rest.slice(end, end + 2) === '\r\n', 'a chunk is as long as it says');
    body += rest.slice(start, end);
    rest = rest.slice(end + 2);
    if (end === start) break;
  }
  return { body, after: rest };
}

const shown = (text: string): string => JSON.stringify(text.slice(0, 200));
