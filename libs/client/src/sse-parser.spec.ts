import fc from 'fast-check';
import { ProtocolError } from './errors.js';
import { type ServerSentEvent, SseParser } from './sse-parser.js';

const utf8 = new TextEncoder();
const LIMIT = 1_000;

function parse(...chunks: readonly (string | Uint8Array)[]): ServerSentEvent[] {
  const parser = new SseParser({ maxCharacters: LIMIT });
  return chunks.flatMap((chunk) => parser.push(typeof chunk === 'string' ? utf8.encode(chunk) : chunk));
}

const message = (data: string): ServerSentEvent => ({ type: 'message', data });

describe('the event stream parser', () => {
  it.each<[string, string, ServerSentEvent[]]>([
    ['reads an event with its type', 'event: session\nid: 7\ndata: {}\n\n', [{ type: 'session', data: '{}' }]],
    ['joins lines of data', 'data: a\ndata: b\ndata:\ndata: c\n\n', [message('a\nb\n\nc')]],
    ['takes away one space after the colon and no more', 'data:  a\n\ndata:b\n\n', [message(' a'), message('b')]],
    ['leaves comments out', ': heartbeat\n\n:\ndata: a\n\n', [message('a')]],
    ['gives no event without data', 'event: session\nid: 7\n\ndata: a\n\n', [message('a')]],
    ['forgets the type after each event', 'event: x\n\ndata: a\n\n', [message('a')]],
    ['leaves unknown fields out', 'colour: red\ndata: a\n\n', [message('a')]],
    ['takes a field without a colon as empty', 'data\n\n', [message('')]],
    ['does not give an event that was cut', 'data: a\n\ndata: b\n', [message('a')]],
    ['ends lines in LF and CRLF alike', 'data: b\r\n\r\ndata: c\n\n', [message('b'), message('c')]],
    ['takes a byte order mark away at the start alone', '\uFEFFdata: a\n\n\uFEFFdata: b\n\n', [message('a')]],
  ])('%s', (_name, text, events) => {
    expect(parse(text)).toEqual(events);
  });

  it('counts whole lines, whatever is in them', () => {
    const parser = new SseParser({ maxCharacters: LIMIT });
    parser.push(utf8.encode(': a'));
    expect(parser.lines).toBe(0);
    parser.push(utf8.encode('\r'));
    parser.push(utf8.encode('\n\n'));
    expect(parser.lines).toBe(2);
  });

  it('reads the same events, however their octets are cut', () => {
    const line = fc.tuple(
      fc.constantFrom('data: ', 'data:', 'data', 'event: ', 'id:', ': ', '\uFEFFdata: '),
      fc.string({ unit: fc.constantFrom('a', ' ', ':', 'é', '😀', '\0', '\r'), maxLength: 6 }),
      fc.constantFrom('\n', '\n\n', '\r\n', '\r\n\r\n', ''),
    );
    const texts = fc.array(line, { maxLength: 20 }).map((lines) => utf8.encode(lines.flat().join('')));
    const cuts = fc.array(fc.nat({ max: 300 }), { maxLength: 20 });
    fc.assert(
      fc.property(texts, cuts, (octets, places) => {
        const ends = [...places.filter((end) => end < octets.length).sort((a, b) => a - b), octets.length];
        const pieces = ends.map((end, index) => octets.subarray(ends[index - 1] ?? 0, end));
        expect(parse(...pieces)).toEqual(parse(octets));
      }),
      { numRuns: 400 },
    );
  });

  it('refuses a line that does not end, without keeping more than the limit', () => {
    const parser = new SseParser({ maxCharacters: LIMIT });
    const push = (): void => {
      for (let count = 0; count < 100; count += 1) parser.push(utf8.encode('x'.repeat(100)));
    };
    expect(push).toThrow(ProtocolError);
  });

  it('refuses a long line that comes at once', () => {
    expect(() => parse(`data: ${'x'.repeat(LIMIT)}\n\n`)).toThrow(ProtocolError);
  });

  it('refuses an event of many lines that is too long in all, and takes one that just fits', () => {
    const line = `data: ${'x'.repeat(99)}\n`;
    expect(parse(`${line.repeat(10)}\n`)[0]?.data).toHaveLength(999);
    expect(() => parse(line.repeat(11))).toThrow(ProtocolError);
  });
});
