import fc from 'fast-check';
import { ProtocolError } from '#libs/client';
import { type ServerSentEvent, SseParser } from '../../libs/client/src/sse-parser.js';
import { damaged } from './damaged.js';

const MAX_CHARACTERS = 2_000;
const PIECES = [
  ...['data', 'event', 'id', 'retry', ':', ': ', ' ', '\n', '\r', '\r\n', '\n\n'],
  ...['x', 'é', '😀', '\0', '1', '\uFEFF'],
];

/** Pieces of event stream syntax, in any order. */
const piecesOfEventStream = fc.array(fc.constantFrom(...PIECES), { maxLength: 120 }).map((pieces) => pieces.join(''));

/** The octets cut into pieces that end at these positions; positions beyond the end are ignored. */
function cutAt(octets: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.filter((end) => end < octets.length).sort((a, b) => a - b), octets.length];
  return ends.map((end, index) => octets.subarray(ends[index - 1] ?? 0, end));
}

/** The standard's wording applied to the whole text at once: an independent way to the same events. */
function readAtOnce(text: string): ServerSentEvent[] {
  const events: ServerSentEvent[] = [];
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  lines.pop();
  let [type, data]: [string, string | undefined] = ['', undefined];
  for (const ended of lines) {
    const line = ended.replace(/\r$/, '');
    const [, field = '', , value = ''] = /^([^:]*)(: ?([^]*))?$/.exec(line) ?? [];
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`;
    else if (field === 'event') type = value;
    if (line !== '') continue;
    if (data !== undefined) events.push({ type: type || 'message', data });
    [type, data] = ['', undefined];
  }
  return events;
}

const sent = fc
  .array(
    fc.record({
      type: fc.constantFrom('session', 'handover', ''),
      data: fc.json({ maxDepth: 2, stringUnit: 'binary' }),
      id: fc.nat(),
    }),
    { maxLength: 6 },
  )
  .map((events) => events.map(({ type, data, id }) => `event: ${type}\nid: ${id}\ndata: ${data}\n\n`).join(': beat\n'));
const stream = fc.record({
  octets: damaged(fc.oneof(sent, piecesOfEventStream)),
  cuts: fc.array(fc.nat({ max: 300 }), { maxLength: 20 }),
});

/** @returns undefined for a stream that is refused because of its length */
function eventsOf(pieces: readonly Uint8Array[]): ServerSentEvent[] | undefined {
  const parser = new SseParser({ maxCharacters: MAX_CHARACTERS });
  try {
    return pieces.flatMap((piece) => parser.push(piece));
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}

describe('what is sent to the client as an event stream', () => {
  it('is read as the standard says, however its octets are cut', () => {
    fc.assert(
      fc.property(stream, ({ octets, cuts }) => {
        const events = eventsOf(cutAt(octets, cuts));
        expect(events).toEqual(eventsOf([octets]));
        if (events === undefined) return;
        // An incomplete character at the end belongs to no line yet.
        expect(events).toEqual(readAtOnce(new TextDecoder('utf-8', { ignoreBOM: true }).decode(octets)));
      }),
      { numRuns: 400 },
    );
  });
});
